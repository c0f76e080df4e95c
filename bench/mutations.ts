export const bench = null as never;
