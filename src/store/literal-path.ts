import { resolve } from 'node:path';
import { failure } from '../schema/error.ts';
import { sqlText } from './create-tables.ts';
import { placeOf } from './place.ts';

/**
 * A path as SQL spells it where the engine takes a pattern (`read_parquet`): this very file, whatever its name holds.
 * It is made absolute, so that no name is taken for an address (`s3:…`, `file:…`) or a home folder (`~`).
 * @throws a failure where the engine has no way to spell it: a backslash, which it reads as a separator, beside one of * ? [
 */
export function patternOf(path: string): string {
  const whole = resolve(placeOf(path));
  if (whole.includes('\\') && /[*?[]/.test(whole) && process.platform !== 'win32')
    throw failure({
      subject: path,
      wrong:
        'its path holds a backslash beside one of * ? [, which the Parquet reader cannot tell from a pattern',
      fix: 'Rename it.',
    });
  return sqlText(whole.replace(/[*?[]/g, '[$&]'));
}

/** A path as SQL spells it where the engine writes a file: there nothing is a pattern. */
export function targetOf(path: string): string {
  return sqlText(resolve(placeOf(path)));
}
