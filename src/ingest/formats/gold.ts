import { isFields } from './fields.ts';

/** Names of right answers, in snake case: whole names, and beginnings and ends of names. */
const NAMES: ReadonlySet<string> = new Set([
  ...['answer', 'answers', 'gold', 'golden', 'ground_truth', 'ground_truths', 'groundtruth', 'gt', 'ideal'],
  ...['label', 'labels', 'reference', 'references', 'solution', 'solutions', 'target', 'targets', 'oracle'],
  ...['test_patch', 'fail_to_pass', 'pass_to_pass'],
]);
const THING =
  '(?:answers?|solutions?|outputs?|responses?|completions?|patch|actions?|trajectory|code|text|labels?)';
const PATTERN = new RegExp(
  `^(?:gold(?:en)?|ground_truth|expected|oracle)_|_(?:gold|golden|ground_truth|gt)$|^(?:reference|correct|target|true|ideal|canonical|best|right)_${THING}$`,
);

/** Whether a field of this name holds what the agent was meant to find out: never state, never shown to a critic. */
export function isGold(name: string): boolean {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s.-]+/g, '_')
    .toLowerCase();
  return NAMES.has(plain) || PATTERN.test(plain);
}

/** Objects within objects are searched so far. */
const DEEPEST = 3;

/** Takes every gold field out of `value`, into `fenced` by its path; the value itself where it holds none. */
export function withoutGold(value: unknown, path: string, fenced: Map<string, unknown>, depth = 0): unknown {
  if (!isFields(value) || depth >= DEEPEST) return value;
  const before = fenced.size;
  const kept: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (isGold(name)) fenced.set(at, inner);
    else kept.push([name, withoutGold(inner, at, fenced, depth + 1)]);
  }
  return fenced.size === before ? value : Object.fromEntries(kept);
}
