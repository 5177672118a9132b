// Words that everything around a life has in common: units of time, and the namespace in which it takes place.

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const namespace = "default";
