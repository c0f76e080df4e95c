import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { census } from '../helpers/two-stage.ts';

const fixtures = resolve(import.meta.dirname, '../fixtures');
const cases = resolve(import.meta.dirname, '../../../shared/cases');

// biome-ignore lint/suspicious/noExplicitAny: JSON of two shapes, walked side by side
type Json = any;
const read = (...path: string[]) => readFileSync(resolve(...path), 'utf8');
const ours = (name: string): Json => {
  const { origin, ...rest } = JSON.parse(read(fixtures, name));
  expect(origin, `${name} says where its numbers come from`).toBeTypeOf('string');
  return rest;
};
const theirs = (...path: string[]): Json => JSON.parse(read(cases, ...path));
/** Lines of a CSV file as records. */
const rows = (...path: string[]): Record<string, string>[] => {
  const [header, ...lines] = read(...path)
    .trim()
    .split('\n');
  const names = header!.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((x, k) => [names[k]!, x])));
};

/** How many numbers and words were compared. */
let compared = 0;
/** Everything of a fixture is in the original, digit by digit; an exact fraction stands for its value. */
function within(mine: Json, original: Json, path: string): void {
  if (mine === null || typeof mine !== 'object') {
    const whole = typeof original === 'object' && original !== null && 'value' in original;
    expect(mine, path).toBe(whole ? original.value : original);
    compared++;
    return;
  }
  if (Array.isArray(mine)) expect(original?.length, path).toBe(mine.length);
  for (const key of Object.keys(mine)) {
    expect(original, path).toHaveProperty([key]);
    within(mine[key], original[key], `${path} ${key}`);
  }
}
const each = <T>(x: Record<string, T>, f: (value: T, key: string) => Json): Json =>
  Object.fromEntries(Object.entries(x).map(([key, value]) => [key, f(value, key)]));

/** The originals in the shape of the fixtures: some keys have other names there, or lie deeper. */
const ORIGINALS: Record<string, () => Json> = {
  'agent-turns-exact.json': () => {
    const x = theirs('agent-turns-exact/expected.json');
    return { ...x, mean_return: x.sample.mean_return, se_return: x.sample.se_return };
  },
  'agent-turns-values.json': () => {
    const x = theirs('agent-turns-exact/expected.json');
    const { n, turns_hist, n_steps } = x.sample;
    return { ...x, sample_n: n, sample_turns_hist: turns_hist, sample_n_steps: n_steps };
  },
  'coverage-diagnostics.json': () =>
    each(theirs('coverage-diagnostics/expected.json'), (x: Json) => ({ ...x, ...x.truncation_curve?.[0] })),
  'coverage-diagnostics-all.json': () => {
    const polle = theirs('polle-two-stage/expected.json');
    return {
      ...theirs('coverage-diagnostics/expected.json'),
      g_coef: polle.always_1.correct.g_coef,
      ipw_estimated: each(polle, (x: Json) => x.correct?.ipw),
    };
  },
  'exact-two-stage.json': () => {
    const x = theirs('exact-two-stage/expected.json');
    return { ...x, sample400: each(x.sample400, (s: Json) => s.known) };
  },
  'exact-two-stage-bounds.json': () => theirs('exact-two-stage/expected_bounds.json'),
  'exact-two-stage-polle.json': () => theirs('exact-two-stage/expected_polle.json'),
  'exact-two-stage-values.json': () => {
    const x = theirs('exact-two-stage/expected.json');
    return {
      ...x,
      Q2: x.Q2_opt,
      policies: each(x.policies, (p: Json) => ({ ...p, var_DR_trueQ: p.var_DR_trueQ_efficiency_bound })),
    };
  },
  'modelwin-modelfail.json': () => theirs('modelwin-modelfail/expected.json'),
  'ope-known-answers.json': () => theirs('ope-known-answers.json'),
  'polle-two-stage.json': () => ({
    ...theirs('polle-two-stage/expected.json'),
    truth: theirs('polle-two-stage/truth.json'),
  }),
  'polle-vignette.json': () => theirs('polle-two-stage/expected_vignette.json'),
  'positivity-structural.json': () => theirs('positivity-structural/expected.json'),
  'smart-known.json': () => theirs('smart-known/expected.json'),
  'three-stage-linear.json': () => theirs('three-stage-linear/expected.json'),
  'tool-agent-exact.json': () => theirs('agent-turns-exact/expected.json'),
};

test.skipIf(!existsSync(cases))(
  'the numbers of the fixtures are those of the cases (skipped: ../shared is not here)',
  () => {
    for (const [name, original] of Object.entries(ORIGINALS)) within(ours(name), original(), name);
    expect(compared).toBeGreaterThan(2500);

    for (const [name, original] of [
      ['agent-turns-exact.csv', 'agent-turns-exact/data.csv'],
      ['exact-two-stage-sample400.csv', 'exact-two-stage/sample400.csv'],
      ['polle-two-stage.csv', 'polle-two-stage/data.csv'],
      ['smart-known.csv', 'smart-known/data.csv'],
      ['three-stage-linear.csv', 'three-stage-linear/data.csv'],
    ] as const)
      expect(read(fixtures, name), name).toBe(read(cases, original));

    const vignette = rows(cases, 'polle-two-stage/data2000_vignette.csv');
    for (const [i, row] of rows(fixtures, 'polle-vignette.csv').entries())
      expect(vignette[i], `row ${i}`).toMatchObject(row);
    expect(rows(fixtures, 'polle-vignette.csv')).toHaveLength(vignette.length);

    const patients = rows(cases, 'polle-two-stage/data.csv');
    const covariates = rows(fixtures, 'coverage-covariates.csv');
    const short = rows(fixtures, 'coverage-diagnostics.csv');
    expect([covariates.length, short.length]).toEqual([patients.length, patients.length]);
    patients.forEach((p, i) => {
      const { U, ...rest } = covariates[i]!;
      expect(p, `row ${i}`).toMatchObject(rest);
      expect(Object.values(short[i]!).slice(0, 4)).toEqual([p.C_1, p.C_2, p.A_1, p.A_2]);
      const utility = Number(p.U_1) + Number(p.U_2) + Number(p.U_3);
      for (const u of [U, short[i]!.u]) expect(Number(u)).toBeCloseTo(utility, 7);
    });

    // The census is made from the law in the helper.
    const path = (r: object) => Object.values(r).map(Number).join(' ');
    const printed = rows(cases, 'exact-two-stage/census.csv').map(({ id, b1, b2, ...r }) => path(r));
    expect(census().map(path).sort()).toEqual(printed.sort());
  },
);
