/** Seconds of processor time this process has used, which a busy machine does not lengthen as it does the clock's. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
