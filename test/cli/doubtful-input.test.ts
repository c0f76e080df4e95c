/* Input that may be right and mostly is not: used with a warning, and the verdict held at weak; rewards that are left out. */
import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { reasonsAgainst } from '../../src/audit/reasons.ts';
import { auditCommand } from '../../src/cli/audit.ts';
import { evaluateCommand } from '../../src/cli/evaluate.ts';
import { AuditConfig } from '../../src/schema/audit-config.ts';
import { openStore } from '../../src/store/store.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';
import { run } from '../helpers/run-command.ts';
import { candidate, logs, made, reasons, scored, scores, turnsOf } from '../helpers/two-coins.ts';

test('rewards of aborted episodes are not used, and both paths say whose', async () => {
  const honest = await made({ episodes: logs.filter((_, i) => i % 40 > 1) });
  // Two whole tasks aborted, paid a fortune at the end or in a turn; one aborted rollout is paid nothing.
  const paid = logs.map((e, i) =>
    i % 40 > 1
      ? e
      : {
          ...e,
          ending: 'aborted',
          reward: i === 40 ? 1e6 : null,
          turns: e.turns.map((x) => ({ ...x, reward: i === 41 ? 1e6 : null })),
        },
  );
  for (const input of [{ episodes: paid }, { episodes: paid, scores }]) {
    const { store, target } = await made(input);
    const open = await openStore(store, { mode: 'read' });
    const before = await openStore(honest.store, { mode: 'read' });
    const want = await auditTarget(before, honest.target);
    for (const scanAbove of [1e9, 0]) {
      const { evaluation, warnings } = await auditTarget(open, target, { scanAbove });
      expect(warnings.filter((w) => w.code === 'reward-on-aborted')).toEqual([
        {
          code: 'reward-on-aborted',
          message:
            '2 aborted episodes carry a reward (episode run-40 the first): it is not used, since what infrastructure cut off says nothing of a policy',
          count: 2,
          episode: 'run-40',
          column: 'reward',
        },
      ]);
      expect(evaluation!.behaviour.value).toBe(want.evaluation!.behaviour.value);
      expect(evaluation!.episodes).toMatchObject({ used: 304, withoutReturn: 16, total: 320 });
    }
    open.close();
    before.close();
    for (const command of [auditCommand, evaluateCommand]) {
      const { err } = await run(command, '--store', store, '--target', target);
      expect(err).toMatch(/warning: 2 aborted episodes carry a reward \(episode run-40 the first\)/);
    }
  }
});

test('a constant propensity holds the verdict at weak', async () => {
  // ½ at every turn, where it was ½ and then ¼. This target's weights have mean 1 all the same: the actions show it.
  const onlyA = {
    ...candidate,
    rules: [{ when: { turn: 0 }, probabilities: { a: 1 } }, { probabilities: { a: 0.5, b: 0.5 } }],
  };
  const filled = turnsOf((x, run, t) => ({
    ...x,
    // Three classes, so that ½ is not one of an even choice.
    action_class: t === 0 && x.action_class === 'b' && Number(run.slice(4)) % 2 === 0 ? 'c' : x.action_class,
    behaviour_log_propensity: -Math.LN2,
  }));
  // Every task then adds the same, so that the error is 0 as well.
  expect(await reasons({ episodes: filled, file: onlyA })).toEqual([
    'refused propensities-contradicted',
    'weak constant-propensity',
    'weak no-standard-error',
  ]);
  const constant = turnsOf((x) => ({ ...x, behaviour_logprob: -4 }));
  const same = scored((s) => ({ ...s, logprob: -4 }));
  expect(await reasons({ episodes: constant, scores: same })).toEqual([
    'weak constant-propensity',
    'weak no-standard-error',
  ]);
});

test('… unless the turns in use were chosen evenly, whatever aborted and held-out ones look like', async () => {
  const even = turnsOf((x) => ({ ...x, behaviour_log_propensity: -Math.LN2 })).map((e, i) => {
    if (i % 40 === 0)
      return { ...e, ending: 'aborted', turns: e.turns.map(({ action_class: _, ...x }) => x) };
    if (i % 40 === 1) return { ...e, turns: e.turns.map((x) => ({ ...x, action_class: 'c' })) };
    return e;
  });
  const file = {
    ...candidate,
    trained_on: { tasks: ['task-1'] },
    rules: [{ probabilities: { a: 0.4, b: 0.6 } }],
  };
  expect(await reasons({ episodes: even, file })).not.toContain('weak constant-propensity');
});

test('an estimate outside the logged returns holds the verdict at weak', async () => {
  // One rollout the target would hardly make is gone: Σ w / n is a little above 1, and so is IS, where no return is.
  const file = { ...candidate, rules: [{ probabilities: { a: 0.9, b: 0.1 } }] };
  const one = logs
    .map((e) => ({ ...e, reward: 1, turns: e.turns.slice(0, 1) }))
    .filter((e) => e.episode_id !== 'run-199');
  const found = await reasons({ episodes: one, file });
  expect(found.filter((r) => r.endsWith('outside-range')).length).toBeGreaterThan(0);
  expect(found.every((r) => r.startsWith('weak'))).toBe(true);
});

test('… a doubly robust one too, where it has an interval', () => {
  const ratios = logRatiosFromPolicyFile(trajectoriesOf(simulated(200, 10, 4)), policyFile('soft'));
  const { evaluation, stages, weights, unsupported, reasons: none } = audit(ratios);
  expect(none).toEqual([]);
  const codes = (name: string) => {
    const estimates = evaluation!.estimates.map((e) =>
      e.estimator === name ? { ...e, warnings: [{ code: 'outside-range', message: 'x' }] } : e,
    );
    const evidence = { ratios, stages, weights: weights!, unsupported: unsupported!, actionClasses: [] };
    return reasonsAgainst(
      { ...evidence, evaluation: { ...evaluation!, estimates } },
      AuditConfig.parse({}),
    ).map((r) => `${r.verdict} ${r.code}`);
  };
  for (const name of ['IS', 'PDIS', 'DR', 'WDR carried'])
    expect(codes(name), name).toEqual(['weak outside-range']);
  // No estimate of the value, or of the model alone: nothing is claimed for it.
  for (const name of ['WPDIS alive', 'DM']) expect(codes(name), name).toEqual([]);
});
