import { nearestName } from '../nearest-name.ts';

/** Other names under which logs write a column of the record. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  task_id: ['task', 'task_name', 'instance_id', 'problem_id', 'question_id', 'group', 'example_id'],
  reward: ['score', 'success', 'correct', 'is_correct', 'resolved', 'passed', 'return', 'final_reward'],
  policy: ['model', 'model_name', 'agent', 'agent_name', 'policy_name'],
  episode_id: ['id', 'run_id', 'conversation_id', 'trajectory_id', 'session_id', 'uuid', 'sample_id'],
  trial: ['attempt', 'epoch', 'sample', 'repetition', 'trial_id'],
  ending: ['status', 'stop_reason', 'termination_reason', 'done', 'truncated', 'finish_reason'],
  started_at: ['timestamp', 'created_at', 'start_time', 'started'],
  ended_at: ['end_time', 'finished_at', 'completed_at', 'ended'],
  cost: ['total_cost', 'cost_usd', 'total_cost_usd'],
};
const MEANS = new Map(Object.entries(ALSO).flatMap(([known, names]) => names.map((name) => [name, known])));

/**
 * The column of the record that one of another name most likely is: by a name in use, or misspelt.
 * undefined: none. `nested`: within `metadata`, where the names of the record itself look like it too.
 */
export function similarColumn(name: string, nested: boolean): string | undefined {
  const plain = name.toLowerCase();
  if (nested && Object.hasOwn(ALSO, plain)) return plain;
  const also = MEANS.get(plain);
  if (also !== undefined) return also;
  // Short names are a letter or two from too many, long ones from none.
  return plain.length < 5 || plain.length > 40 ? undefined : nearestName(plain, Object.keys(ALSO));
}
