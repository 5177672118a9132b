// How many events a page tells: the newest. Rules: spec/explain.md [E9].
export const recentMax = 8;
