import { expect, test } from 'vitest';
import { toolAgentExact } from '../../src/simulate/tool-agent-exact.ts';
import { TOOL_AGENT_POLICIES } from '../../src/simulate/tool-agent-law.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { allPaths, episodeOf, POLICIES, policyFile, trajectoriesOf } from '../helpers/agent-turns.ts';

test.each(POLICIES)('KL and chi-square of whole episodes by full enumeration: %s', (name) => {
  const paths = allPaths();
  const t = trajectoriesOf(paths.map(({ steps }, i) => episodeOf(steps, i)));
  const { logWeight } = episodeWeights(logRatiosFromPolicyFile(t, policyFile(name)));
  let [kl, squares] = [0, 0];
  paths.forEach(({ p }, i) => {
    const w = Math.exp(logWeight[i]!);
    if (w > 0) kl += p * w * logWeight[i]!;
    squares += p * w * w;
  });
  const exact = toolAgentExact(TOOL_AGENT_POLICIES[name]);
  expect(exact.kl).toBeCloseTo(kl, 11);
  expect(exact.rho2Carried.at(-1)! / squares).toBeCloseTo(1, 11);
});

test('a policy that does what the logs never do is infinitely far', () => {
  const { soft, eager } = TOOL_AGENT_POLICIES;
  expect(toolAgentExact(soft, eager).kl).toBe(Infinity);
  expect(toolAgentExact(eager, soft).kl).toBeLessThan(Infinity);
});
