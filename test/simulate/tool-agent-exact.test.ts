import { readFileSync } from 'node:fs';
import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { toolAgentExact } from '../../src/simulate/tool-agent-exact.ts';
import {
  ACTIONS,
  HORIZON,
  NEXT,
  START,
  SUBMIT,
  SUCCESS,
  TOOL_AGENT_POLICIES,
  type ToolAgentPolicy,
  type ToolAgentPolicyName,
  TURN_REWARD,
} from '../../src/simulate/tool-agent-law.ts';

interface ExpectedPolicy {
  V: { value: number };
  V_t: Record<string, Record<string, number>>;
  Q_t: Record<string, Record<string, Record<string, number>>>;
  P_alive_pi: number[];
  E_rho2_all_carried_forward: number[];
  E_rho2_alive_at_t: number[];
  ESS_fraction_by_stage: number[];
  efficiency_bound_NMDP: { value: number };
  efficiency_bound_MDP: { value: number };
  var_IS: number;
  var_PDIS: number;
}
const expected = JSON.parse(
  readFileSync(new URL('../fixtures/tool-agent-exact.json', import.meta.url), 'utf8'),
) as {
  policies: Record<ToolAgentPolicyName, ExpectedPolicy>;
  advantage_behaviour: ExpectedPolicy['Q_t'];
};
const close = (got: number, want: number, tolerance = 1e-12): void => {
  expect(Math.abs(got - want)).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(want)));
};
const closeAll = (got: readonly number[], want: readonly number[]): void => {
  expect(got.length).toBe(want.length);
  got.forEach((x, i) => {
    close(x, want[i]!);
  });
};

describe.each(Object.keys(TOOL_AGENT_POLICIES) as ToolAgentPolicyName[])('%s', (name) => {
  const exact = toolAgentExact(TOOL_AGENT_POLICIES[name]);
  const want = expected.policies[name];

  test('value, V_t and Q_t are those of the exact rational backup', () => {
    close(exact.value, want.V.value);
    for (let t = 0; t < HORIZON; t++)
      for (let q = 0; q < 3; q++) {
        close(exact.v[t]![q]!, want.V_t[t + 1]![q]!);
        ACTIONS.forEach((a, i) => {
          close(exact.q[t]![q]![i]!, want.Q_t[t + 1]![q]![a]!);
        });
      }
  });

  test('survival and second moments of the ratios', () => {
    closeAll(exact.alive, want.P_alive_pi);
    closeAll(exact.rho2Carried, want.E_rho2_all_carried_forward);
    closeAll(exact.rho2Alive, want.E_rho2_alive_at_t);
    closeAll(exact.essFraction, want.ESS_fraction_by_stage);
  });

  test('variances of IS and PDIS are those of the full enumeration, and the efficiency bounds', () => {
    close(exact.varianceIs, want.var_IS, 1e-11);
    close(exact.variancePdis, want.var_PDIS, 1e-11);
    close(exact.boundNmdp, want.efficiency_bound_NMDP.value);
    close(exact.boundMdp, want.efficiency_bound_MDP.value);
  });
});

test('advantages of the behaviour policy', () => {
  const exact = toolAgentExact(TOOL_AGENT_POLICIES.behaviour);
  for (let t = 0; t < HORIZON; t++)
    for (let q = 0; q < 3; q++)
      ACTIONS.forEach((a, i) => {
        close(exact.advantage[t]![q]![i]!, expected.advantage_behaviour[t + 1]![q]![a]!);
      });
});

/** Every path of the world under b, with π's ratios: the slow way to the same moments. */
function enumerate(policy: ToolAgentPolicy, logged: ToolAgentPolicy) {
  const sum = { mass: 0, is: 0, is2: 0, pdis: 0, pdis2: 0 };
  const end = (p: number, w: number, pdis: number, g: number): void => {
    sum.mass += p;
    sum.is += p * w * g;
    sum.is2 += p * (w * g) ** 2;
    sum.pdis += p * pdis;
    sum.pdis2 += p * pdis ** 2;
  };
  const walk = (t: number, q: number, p: number, w: number, pdis: number, g: number): void => {
    for (let a = 0; a < 3; a++) {
      const b = logged(t, q)[a]!;
      const pa = p * b;
      const wa = (w * policy(t, q)[a]!) / b;
      if (a === SUBMIT) {
        end(pa * SUCCESS[q]!, wa, pdis + wa, g + 1);
        end(pa * (1 - SUCCESS[q]!), wa, pdis, g);
        continue;
      }
      const r = TURN_REWARD[a]!;
      if (t === HORIZON - 1) end(pa, wa, pdis + wa * r, g + r);
      else
        NEXT[a]![q]!.forEach((pk, k) => {
          if (pk > 0) walk(t + 1, k, pa * pk, wa, pdis + wa * r, g + r);
        });
    }
  };
  START.forEach((p, q) => {
    if (p > 0) walk(0, q, p, 1, 0, 0);
  });
  return sum;
}

const row = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
  .map((w) => w.map((x) => x / (w[0] + w[1] + w[2])));
const tabular = fc.array(row, { minLength: HORIZON * 3, maxLength: HORIZON * 3 }).map(
  (rows): ToolAgentPolicy =>
    (t, q) =>
      rows[t * 3 + q]!,
);

property.prop([tabular, tabular], { numRuns: 8 })(
  'dynamic programming agrees with enumeration for any pair of policies',
  (policy, logged) => {
    const exact = toolAgentExact(policy, logged);
    const sum = enumerate(policy, logged);
    close(sum.mass, 1, 1e-11);
    close(sum.is, exact.value, 1e-11);
    close(sum.pdis, exact.value, 1e-11);
    close(exact.varianceIs, sum.is2 - sum.is ** 2, 1e-9);
    close(exact.variancePdis, sum.pdis2 - sum.pdis ** 2, 1e-9);
  },
);
