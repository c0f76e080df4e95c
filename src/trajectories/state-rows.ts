import type { StateConfig, StatePart } from '../schema/state-config.ts';
import { featureColumns, writeFeatures } from './feature-columns.ts';
import { startHistory, takeUpTurn } from './history.ts';
import { addNgrams, ngramNames, ngramSketch, writeNgrams } from './ngrams.ts';
import type { SparseRows } from './sparse.ts';
import { endRow, finishRows, pushEntry, sparseBuilder } from './sparse-builder.ts';
import type { TurnVisitor } from './texts.ts';
import { chooseTools, countTool, toolColumns } from './tool-columns.ts';
import type { Trajectories } from './trajectories.ts';

/** Visits the turns in order and gives their state features at the end. */
export interface RowWriter {
  readonly visit: TurnVisitor;
  readonly finish: () => SparseRows;
}

/**
 * State features of the turns, [S rows]. A row is written from the observation of its turn and the
 * history before it; only then does the history take up the turn's own action and calls.
 */
export function stateRows(t: Trajectories, config: StateConfig): RowWriter {
  const has = (part: StatePart): boolean => config.include.includes(part);
  const names: string[] = [];
  const column = (part: StatePart, added: readonly string[]): number => {
    if (!has(part)) return -1;
    for (const name of added) names.push(name);
    return names.length - added.length;
  };
  const turn = column('turn', ['turn']);
  const calls = column('calls', ['n_calls']);
  const lastFailed = column('last_call', ['last_call.failed', 'last_call.unknown']);
  const repeat = column('repeat', ['repeated_call']);
  const observationLength = column('observation_length', ['observation_length']);
  const actionLength = column('action_length', ['previous_action_length']);
  const logged = featureColumns(has('features') ? t : { ...t, features: null }, config.oneHotFeatures);
  const features = column('features', logged.names);
  const ngrams = column('ngrams', ngramNames(config.ngramDims));
  const sketch = ngramSketch(config.ngramDims);
  const withTool = has('last_tool');
  const tools = toolColumns(names.length);
  const out = sparseBuilder(t.turns.turn.length);
  let history = startHistory();
  let lastTool = -1;

  const visit: TurnVisitor = (row, first, observation, action, made) => {
    if (first) {
      history = startHistory();
      lastTool = -1;
    }
    if (turn >= 0) pushEntry(out, turn, t.turns.turn[row]!);
    if (calls >= 0) pushEntry(out, calls, history.calls);
    if (lastFailed >= 0 && history.lastFailed !== 0)
      pushEntry(out, history.lastFailed > 0 ? lastFailed : lastFailed + 1, 1);
    if (repeat >= 0 && history.repeated) pushEntry(out, repeat, 1);
    if (observationLength >= 0) pushEntry(out, observationLength, Math.log1p(observation?.length ?? 0));
    if (actionLength >= 0) pushEntry(out, actionLength, Math.log1p(history.previousActionLength));
    if (features >= 0) writeFeatures(logged, t, row, out, features);
    if (ngrams >= 0 && observation !== null) {
      addNgrams(sketch, observation);
      writeNgrams(sketch, out, ngrams);
    }
    if (withTool && lastTool >= 0) pushEntry(out, tools.base + lastTool, 1);
    endRow(out);

    takeUpTurn(history, action, made, t.turns.toolErrors[row]!);
    for (const call of made) lastTool = countTool(tools, call.name);
  };
  const finish = (): SparseRows => {
    if (withTool) for (const name of chooseTools(tools, out, config, 'last_tool')) names.push(name);
    return finishRows(out, names);
  };
  return { visit, finish };
}
