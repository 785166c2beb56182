import type { Mutation } from './mutation.ts'

/** Faults in the reading of trajectories with captured exchanges. */
export const capturedMutations: Mutation[] = [
  {
    fault: "a judge's exchange is shown as the trained conversation",
    file: 'apiserver/histories/read-histories.ts',
    find: '.filter((each) => isOfModel(each, model))',
    replace: '',
    test: 'apiserver/histories/read-histories.test.ts',
  },
  {
    fault: 'exchanges of one millisecond are in the order of their protocols',
    file: 'apiserver/histories/read-exchange.ts',
    find: "Number(microseconds.padEnd(3, '0'))",
    replace: '0',
    test: 'apiserver/histories/read-histories.test.ts',
  },
  {
    fault: 'a history that was continued is continued a second time',
    file: 'apiserver/histories/read-histories.ts',
    find: '    ends.splice(ends.lastIndexOf(history), 1)\n',
    replace: '',
    test: 'apiserver/histories/read-histories.test.ts',
  },
  {
    fault: 'a prompt is repeated for each of thousands of choices',
    file: 'apiserver/histories/read-histories.ts',
    find: 'if (left < 0) return',
    replace: 'if (left < -1e9) return',
    test: 'apiserver/histories/read-histories.test.ts',
  },
  {
    fault: 'histories of any size are written',
    file: 'apiserver/histories/write-worker.ts',
    find: 'if (left < 0) break',
    replace: '',
    test: 'apiserver/histories/write-worker.test.ts',
  },
  {
    fault: 'a body that names its model last is read for no model',
    file: 'apiserver/training/ingest/receive.ts',
    find: 'return check((await find(reference)).name)',
    replace: 'return checked',
    test: 'test/api/captured-trajectories.test.ts',
  },
  {
    fault: 'a captured trajectory has no histories',
    file: 'apiserver/training/trajectories/read-captured.ts',
    find: "if (!row.flags.includes('captured') ||",
    replace: "if (row.flags.includes('captured') ||",
    test: 'test/api/captured-trajectories.test.ts',
  },
  {
    fault: 'a captured trajectory becomes a row without messages',
    file: 'apiserver/tracing/data-sets/trajectory-rows.ts',
    find: "const isCaptured = trajectory.flags.includes('captured')",
    replace: 'const isCaptured = false',
    test: 'test/api/captured-trajectories.test.ts',
  },
  {
    fault: 'the console shows no texts of a captured trajectory',
    file: 'console/logic/histories.ts',
    find: '...(histories ?? [trajectory, ...(Array.isArray(others) ? (others as unknown[]) : [])])',
    replace: '...[trajectory, ...(Array.isArray(others) ? (others as unknown[]) : [])]',
    test: 'console/logic/histories.test.ts',
  },
  {
    fault: 'token statistics of the first history colour the tokens of another one',
    file: 'console/logic/overlays.ts',
    find: 'statistics: measured ? statistics[next++] : undefined',
    replace: 'statistics: statistics[next++]',
    test: 'console/logic/overlays.test.ts',
  },
]
