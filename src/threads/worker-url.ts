import { extname } from 'node:path';

/**
 * The file of a thread, beside the module that starts it. Built, it is JavaScript; from source, as in the tests and
 * the benchmarks, it is TypeScript, which a thread reads only once it has registered a loader itself.
 * @param base `import.meta.url` of that module
 * @param name of the file, without its extension
 */
export function workerUrl(base: string, name: string): URL {
  const extension = extname(base);
  const url = new URL(`./${name}${extension}`, base);
  if (extension === '.js') return url;
  const loader = import.meta.resolve('tsx/esm/api');
  const code = `import { register } from '${loader}'; register(); await import('${url.href}');`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
