/** Stands in the default user agent; a test compares it with the package's. */
export const version = "0.1.0";
