import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { failure } from '../../schema/error.ts';

/** TensorFlow as a library with a C interface; every path is absolute and free of links. */
export interface Libtensorflow {
  /** Holds both libraries. They look for CUDA's relative to it, so that they are loaded from here and not copied. */
  readonly folder: string;
  readonly library: string;
  readonly framework: string;
  /** Holds tensorflow/c/c_api.h. */
  readonly include: string;
}

/** libtensorflow.so.2 of a C library, libtensorflow_cc.so.2 of a wheel. */
const LIBRARY = /^libtensorflow(?:_cc)?\.so\.2$/;
const FRAMEWORK = /^libtensorflow_framework\.so\.2$/;
/** What the binding includes. */
const HEADERS = [
  'tensorflow/c/c_api.h',
  'tensorflow/c/eager/c_api.h',
  'tensorflow/core/platform/ctstring_internal.h',
];

/**
 * Finds the libraries and headers in the folder `tensorflow` of an installed wheel, in the site-packages around it, or
 * in an unpacked C library with lib/ and include/.
 * @throws where a part is missing, with its name and where it was looked for
 */
export function findLibtensorflow(given: string): Libtensorflow {
  const parts = [
    { name: 'libtensorflow_cc.so.2 or libtensorflow.so.2', at: LIBRARY },
    { name: 'libtensorflow_framework.so.2', at: FRAMEWORK },
  ];
  const subject = `TensorFlow in ${given}`;
  if (!existsSync(given))
    throw failure({
      subject,
      wrong: 'there is no such folder',
      expected: 'site-packages/tensorflow of a wheel or an unpacked C library',
      exitCode: 2,
    });
  const root = [given, join(given, 'tensorflow')].find((at) => existsSync(join(at, 'include', HEADERS[0]!)));
  if (root === undefined)
    throw failure({
      subject,
      wrong: `has no include/${HEADERS[0]}`,
      expected: 'site-packages/tensorflow of a wheel or an unpacked C library',
      exitCode: 2,
    });
  const include = realpathSync(join(root, 'include'));
  const header = HEADERS.find((name) => !existsSync(join(include, name)));
  if (header !== undefined) throw failure({ subject, wrong: `has no include/${header}`, exitCode: 2 });
  const folder = [root, join(root, 'lib')].find((at) => holds(at, LIBRARY)) ?? root;
  const [library, framework] = parts.map(({ name, at }) => {
    const file = holds(folder, at);
    if (file !== undefined) return realpathSync(join(folder, file));
    throw failure({
      subject,
      wrong: `has no ${name}`,
      fix: 'It is looked for in the folder itself and in its lib/.',
      exitCode: 2,
    });
  });
  return { folder: realpathSync(folder), library: library!, framework: framework!, include };
}

function holds(folder: string, name: RegExp): string | undefined {
  return existsSync(folder) ? readdirSync(folder).find((file) => name.test(file)) : undefined;
}
