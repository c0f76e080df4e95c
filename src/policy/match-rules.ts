import { failure } from '../schema/error.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { ruleIndex } from './first-rule.ts';
import { groupRows } from './group-rows.ts';
import type { PolicyFile } from './policy-file.ts';
import { type TurnKey, turnKeys } from './turn-keys.ts';

/** Which rule applies at each turn, and in which cell of the declared state the turn lies. */
export interface RuleMatch {
  /** [S] first rule that matches; −1 outside the view. */
  readonly rule: Int32Array;
  /** [S] −1 outside the view. */
  readonly cell: Int32Array;
  /** `key` tells the cells of a file apart, in whatever part of the logs they are met; `name` is for a reader. */
  readonly cells: readonly { readonly rule: number; readonly key: string; readonly name: string }[];
}

/**
 * Matches the rules of a policy file at every turn of the view. A turn that no rule covers is
 * refused: a target must say what it does everywhere the logs go. Turns that are alike in what the file looks
 * at are matched once: O(turns × keys) and a path through the rules for each kind of turn.
 *
 * A cell is a rule together with the values of the keys the file looks at, values it does not name
 * taken together; the task enters through the rule alone, so that cells stay shared by tasks.
 */
export function matchRules(t: Trajectories, file: PolicyFile): RuleMatch {
  const index = ruleIndex(file);
  const keys = turnKeys(t, file);
  const rows = rowsOf(t);
  const column = ({ codes, literals }: TurnKey) => ({ codes, size: literals.length });
  const alike = groupRows(rows, keys.map(column));
  const ruleOf = new Int32Array(alike.first.length);
  alike.first.forEach((i, g) => {
    const s = rows[i]!;
    ruleOf[g] = index.first((k) => keys[k]!.codes[s]!);
    if (ruleOf[g]! < 0) throw uncovered(t, file, s);
  });

  const S = t.turns.turn.length;
  const rule = new Int32Array(S).fill(-1);
  for (let i = 0; i < rows.length; i++) rule[rows[i]!] = ruleOf[alike.of[i]!]!;
  const state = keys.filter(({ key }) => key !== 'task_id');
  const others = state.map(({ literals }) => (literals.includes('other') ? 'any other' : 'other'));
  const cellOf = groupRows(rows, [{ codes: rule, size: file.rules.length }, ...state.map(column)]);
  const cell = new Int32Array(S).fill(-1);
  for (let i = 0; i < rows.length; i++) cell[rows[i]!] = cellOf.of[i]!;
  const cells = Array.from(cellOf.first, (i) => {
    const s = rows[i]!;
    const r = rule[s]!;
    return {
      rule: r,
      key: `${r}:${state.map(({ codes }) => codes[s]).join()}`,
      name: nameOf(r, state, others, s),
    };
  });
  return { rule, cell, cells };
}

/** Whether a rule looks at which task it is. */
export const namesTasks = ({ rules }: PolicyFile, rule: number): boolean =>
  Object.hasOwn(rules[rule]!.when, 'task_id');

/** Rows of the turns of the view, episode by episode. */
function rowsOf({ index, episodeOffsets: at }: Trajectories): Int32Array {
  let n = 0;
  for (const e of index) n += at[e + 1]! - at[e]!;
  const rows = new Int32Array(n);
  let i = 0;
  for (const e of index) for (let s = at[e]!; s < at[e + 1]!; s++) rows[i++] = s;
  return rows;
}

function nameOf(rule: number, state: readonly TurnKey[], others: readonly string[], s: number): string {
  const values = state.map(({ key, literals, codes }, k) => `${key} = ${literals[codes[s]!] ?? others[k]}`);
  return `rule ${rule}${values.length > 0 ? ` at ${values.join(', ')}` : ''}`;
}

function uncovered(t: Trajectories, file: PolicyFile, s: number) {
  const e = t.index.find((i) => t.episodeOffsets[i]! <= s && s < t.episodeOffsets[i + 1]!)!;
  return failure({
    subject: `target "${file.policy}"`,
    wrong: `no rule covers episode ${t.episodes.id[e]} turn ${t.turns.turn[s]}: the target covers only some turns`,
    fix: 'Add a last rule without "when", which applies wherever no other does.',
  });
}
