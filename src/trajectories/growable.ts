type Numbers = Float64Array | Float32Array | Int32Array | Uint8Array;

/** A typed array that grows by half again; what was not written holds `empty`. */
export interface Growable<A extends Numbers> {
  values: A;
  length: number;
  readonly empty: number;
}

export function growable<A extends Numbers>(kind: new (n: number) => A, empty: number): Growable<A> {
  return { values: new kind(1024).fill(empty) as A, length: 0, empty };
}

/** Makes room for n values in all. */
export function growTo<A extends Numbers>(g: Growable<A>, n: number): void {
  if (n > g.values.length) {
    const room = Math.max(n, Math.ceil(g.values.length * 1.5));
    const values = new (g.values.constructor as new (n: number) => A)(room);
    values.set(g.values.subarray(0, g.length) as never);
    values.fill(g.empty, g.length);
    g.values = values;
  }
  g.length = n;
}

/** What was written, cut to size. */
export function grown<A extends Numbers>(g: Growable<A>): A {
  return g.values.slice(0, g.length) as A;
}
