import type { ActionConfig, ActionPart } from '../schema/action-config.ts';
import { argumentsText, startHistory, takeUpTurn } from './history.ts';
import { addNgrams, ngramNames, ngramSketch, writeNgrams } from './ngrams.ts';
import type { SparseRows } from './sparse.ts';
import { endRow, finishRows, pushEntry, sparseBuilder } from './sparse-builder.ts';
import type { RowWriter } from './state-rows.ts';
import type { TurnVisitor } from './texts.ts';
import { chooseTools, countTool, toolColumns } from './tool-columns.ts';
import type { Trajectories } from './trajectories.ts';

/**
 * Features of the actions, [S rows]: what the agent wrote and called in the turn. Results and
 * errors of its calls come after the action and are none of them.
 */
export function actionRows(t: Trajectories, config: ActionConfig): RowWriter {
  const has = (part: ActionPart): boolean => config.include.includes(part);
  const names: string[] = [];
  const column = (part: ActionPart, added: readonly string[]): number => {
    if (!has(part)) return -1;
    for (const name of added) names.push(name);
    return names.length - added.length;
  };
  const { actionClass, nActionTokens } = t.turns;
  const classes = classColumns(actionClass.values);
  const classBase = column('class', classes.names);
  const calls = column('calls', ['n_calls']);
  const repeat = column('repeat', ['repeated_call']);
  const length = column('action_length', ['action_length']);
  const counted = nActionTokens.some((n) => n >= 0);
  const tokens = column('action_tokens', counted ? ['action_tokens', 'action_tokens.unknown'] : []);
  const ngrams = column('ngrams', ngramNames(config.ngramDims));
  const sketch = ngramSketch(config.ngramDims);
  const withTools = has('tools');
  const tools = toolColumns(names.length);
  const out = sparseBuilder(t.turns.turn.length);
  let history = startHistory();

  const visit: TurnVisitor = (row, first, _observation, action, made) => {
    if (first) history = startHistory();
    takeUpTurn(history, action, made, -1);
    const code = actionClass.codes[row]!;
    if (classBase >= 0 && code >= 0) pushEntry(out, classBase + classes.place[code]!, 1);
    if (calls >= 0) pushEntry(out, calls, made.length);
    if (repeat >= 0 && history.repeated) pushEntry(out, repeat, 1);
    if (length >= 0) pushEntry(out, length, Math.log1p(action?.length ?? 0));
    if (tokens >= 0 && counted) {
      const n = nActionTokens[row]!;
      pushEntry(out, n < 0 ? tokens + 1 : tokens, n < 0 ? 1 : Math.log1p(n));
    }
    if (ngrams >= 0) {
      if (action !== null) addNgrams(sketch, action);
      for (const call of made) addNgrams(sketch, argumentsText(call.arguments));
      writeNgrams(sketch, out, ngrams);
    }
    if (withTools) for (const call of made) pushEntry(out, tools.base + countTool(tools, call.name), 1);
    endRow(out);
  };
  const finish = (): SparseRows => {
    if (withTools) for (const name of chooseTools(tools, out, config, 'tool')) names.push(name);
    return finishRows(out, names);
  };
  return { visit, finish };
}

/** A column for each declared action class, in order of name whatever the order of the log. */
function classColumns(classes: readonly string[]): { names: string[]; place: Int32Array } {
  const order = classes.map((_, i) => i);
  order.sort((a, b) => (classes[a]! < classes[b]! ? -1 : 1));
  const place = new Int32Array(classes.length);
  for (let i = 0; i < order.length; i++) place[order[i]!] = i;
  return { names: order.map((i) => `class=${classes[i]}`), place };
}
