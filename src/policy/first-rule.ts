/*
 * The first rule that matches, without trying one rule after the other.
 *
 * Rules that look at the same set of keys are filed together in a tree: one level a key, one child a value,
 * a rule with a list of values under each of them. A turn goes down one path of each such tree and takes the
 * smallest rule that it meets. A node is divided when a turn first gets there, so that what no turn asks for
 * costs nothing: a rule with many lists is not multiplied out.
 *
 * O(size of the file) to build; a turn's state costs O(sets of keys × keys) once paths are known.
 */
import type { PolicyFile } from './policy-file.ts';

/** One key of the rules with the values that the file names, in order of first mention. */
export interface RuleKey {
  readonly key: string;
  readonly literals: readonly (string | number)[];
  /** Index of a literal. */
  readonly place: ReadonlyMap<string | number, number>;
}

export interface RuleIndex {
  readonly keys: readonly RuleKey[];
  /** First rule that matches where key k has the literal `code(k)` (−1: none of them); −1 if none does. */
  first(code: (key: number) => number): number;
}

/** Rules that look at exactly these keys. */
interface Tree {
  readonly keys: readonly number[]; // ascending
  readonly allowed: Map<number, readonly Int32Array[]>; // of a rule, codes by key of the tree
  readonly root: Node;
}

interface Node {
  readonly rules: number[]; // ascending
  children: Map<number, Node> | null;
}

const known = new WeakMap<PolicyFile, RuleIndex>();

/** The index of a file's rules; built once for each file that is in memory. */
export function ruleIndex(file: PolicyFile): RuleIndex {
  let index = known.get(file);
  if (index === undefined) known.set(file, (index = build(file)));
  return index;
}

function build(file: PolicyFile): RuleIndex {
  const place = new Map<string, { at: number; of: Map<string | number, number> }>();
  const trees = new Map<string, Tree>();
  file.rules.forEach((rule, r) => {
    const conditions = Object.entries(rule.when).map(([key, wanted]) => {
      let own = place.get(key);
      if (own === undefined) place.set(key, (own = { at: place.size, of: new Map() }));
      const codes = new Set<number>();
      for (const one of Array.isArray(wanted) ? wanted : [wanted]) {
        if (!own.of.has(one)) own.of.set(one, own.of.size);
        codes.add(own.of.get(one)!);
      }
      return { key: own.at, codes: Int32Array.from(codes) };
    });
    conditions.sort((a, b) => a.key - b.key);
    const keys = conditions.map((c) => c.key);
    const set = keys.join();
    let tree = trees.get(set);
    if (tree === undefined)
      trees.set(set, (tree = { keys, allowed: new Map(), root: { rules: [], children: null } }));
    tree.root.rules.push(r);
    tree.allowed.set(
      r,
      conditions.map((c) => c.codes),
    );
  });
  const inOrder = [...trees.values()]; // by their first rule
  return {
    keys: [...place].map(([key, { of }]) => ({ key, literals: [...of.keys()], place: of })),
    first(code) {
      let best = Infinity;
      for (const tree of inOrder) {
        if (tree.root.rules[0]! >= best) break;
        const found = firstIn(tree, code);
        if (found < best) best = found;
      }
      return best === Infinity ? -1 : best;
    },
  };
}

function firstIn(tree: Tree, code: (key: number) => number): number {
  let node: Node | undefined = tree.root;
  for (let level = 0; level < tree.keys.length; level++) {
    if (node.children === null) divide(tree, node, level);
    node = node.children!.get(code(tree.keys[level]!));
    if (node === undefined) return Infinity;
  }
  return node.rules[0]!;
}

function divide(tree: Tree, node: Node, level: number): void {
  const last = level === tree.keys.length - 1;
  node.children = new Map();
  for (const r of node.rules)
    for (const code of tree.allowed.get(r)![level]!) {
      const child = node.children.get(code);
      if (child === undefined) node.children.set(code, { rules: [r], children: null });
      else if (!last) child.rules.push(r); // at the end only the first counts
    }
}
