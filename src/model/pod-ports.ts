// What a pod of a database listens on besides its processes.

/** Of the sidecar of the split image. */
export const sidecarPort = 8080;

/** Of the monitor of the unified image, for its metrics. */
export const metricsPort = 8081;
