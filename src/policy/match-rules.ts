import { failure } from '../schema/error.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { PolicyFile } from './policy-file.ts';
import { type TurnKey, turnKeys } from './turn-keys.ts';

/** Which rule applies at each turn, and in which cell of the declared state the turn lies. */
export interface RuleMatch {
  /** [S] first rule that matches; −1 outside the view. */
  readonly rule: Int32Array;
  /** [S] −1 outside the view. */
  readonly cell: Int32Array;
  readonly cells: readonly { readonly rule: number; readonly name: string }[];
}

/**
 * Matches the rules of a policy file at every turn of the view. A turn that no rule covers is
 * refused: a target must say what it does everywhere the logs go.
 *
 * A cell is a rule together with the values of the keys the file looks at, values it does not name
 * taken together; the task enters through the rule alone, so that cells stay shared by tasks.
 */
export function matchRules(t: Trajectories, file: PolicyFile): RuleMatch {
  const keys = turnKeys(t, file);
  const tests = file.rules.map((rule) =>
    Object.entries(rule.when).map(([key, wanted]) => {
      const { literals, codes } = keys.find((k) => k.key === key)!;
      const values = Array.isArray(wanted) ? wanted : [wanted];
      return { codes, allowed: Uint8Array.from(literals, (value) => (values.includes(value) ? 1 : 0)) };
    }),
  );
  const state = keys.filter(({ key }) => key !== 'task_id');
  const S = t.turns.turn.length;
  const rule = new Int32Array(S).fill(-1);
  const cell = new Int32Array(S).fill(-1);
  const cells: { rule: number; name: string }[] = [];
  const known = new Map<number, number>();

  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      const r = tests.findIndex((conditions) => conditions.every((c) => (c.allowed[c.codes[s]!] ?? 0) === 1));
      if (r < 0) throw uncovered(t, file, e, s);
      let code = r;
      let radix = file.rules.length;
      for (const { codes, literals } of state) {
        code += radix * (codes[s]! + 1);
        radix *= literals.length + 1;
      }
      let c = known.get(code);
      if (c === undefined) {
        c = cells.length;
        known.set(code, c);
        cells.push({ rule: r, name: nameOf(r, state, s) });
      }
      rule[s] = r;
      cell[s] = c;
    }
  return { rule, cell, cells };
}

function nameOf(rule: number, state: readonly TurnKey[], s: number): string {
  const values = state.map(({ key, literals, codes }) => `${key} = ${literals[codes[s]!] ?? 'other'}`);
  return `rule ${rule}${values.length > 0 ? ` at ${values.join(', ')}` : ''}`;
}

function uncovered(t: Trajectories, file: PolicyFile, e: number, s: number) {
  return failure({
    subject: `target "${file.policy}"`,
    wrong: `no rule covers episode ${t.episodes.id[e]} turn ${t.turns.turn[s]}: the target covers only some turns`,
    fix: 'Add a last rule without "when", which applies wherever no other does.',
  });
}
