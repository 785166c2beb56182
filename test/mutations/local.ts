import type { Mutation } from './mutation.ts'

export const localMutations: Mutation[] = [
  {
    fault: 'a field of security that the node does not honour is taken for proven',
    file: 'local/node-agent/pod/supported-fields.ts',
    find: "  readOnlyRootFilesystem: 'harmless',",
    replace: '  readOnlyRootFilesystem: true,',
    test: 'test/support/pretended-fields.test.ts',
  },
  {
    fault: 'the preflight does not say that memory is short',
    file: 'local/preflight/errors.mjs',
    find: '    ...judgeMemory(facts),\n',
    replace: '',
    test: 'local/preflight/errors.test.ts',
  },
  {
    fault: 'what goes to one disk is not added up',
    file: 'local/preflight/errors.mjs',
    find: 'uses.reduce((sum, { gib }) => sum + gib, 0)',
    replace: 'Math.max(...uses.map(({ gib }) => gib))',
    test: 'local/preflight/errors.test.ts',
  },
  {
    fault: 'a taken port is not noticed',
    file: 'local/preflight/ports.mjs',
    find: "server.once('error', (error) => resolve(error.code))",
    replace: "server.once('error', () => resolve(undefined))",
    test: 'local/stack/network/ports.test.ts',
  },
  {
    fault: 'a download whose digest is wrong is used',
    file: 'local/install/download.ts',
    find: 'if (actual !== expected)',
    replace: "if (actual === '')",
    test: 'local/install/download.test.ts',
  },
  {
    fault: 'two stacks get one slot',
    file: 'local/stack/network/slots.ts',
    find: 'holder && holder !== stateFolder && isInUse(holder)',
    replace: 'holder && holder === stateFolder && isInUse(holder)',
    test: 'local/stack/network/slots.test.ts',
  },
  {
    fault: 'a mount of a longer path loses to one of a shorter path',
    file: 'local/node-agent/volumes/mounts.ts',
    find: 'b.mountPath.length - a.mountPath.length',
    replace: 'a.mountPath.length - b.mountPath.length',
    test: 'local/node-agent/volumes/mounts.test.ts',
  },
  {
    fault: 'a Service leads to pods that are not ready',
    file: 'local/node-agent/network/services.ts',
    find: ' && isReady(pod))',
    replace: ')',
    test: 'local/node-agent/network/services.test.ts',
  },
  {
    fault: 'a failed container is restarted in spite of its policy',
    file: 'local/node-agent/pod/status.ts',
    find: "return policy === 'Never' || (policy === 'OnFailure' && exit.code === 0)",
    replace: "return policy === 'OnFailure' && exit.code === 0",
    test: 'local/node-agent/pod/status.test.ts',
  },
  {
    fault: 'a token is renewed when it has expired',
    file: 'local/node-agent/volumes/tokens.ts',
    find: 'const renewAfterShare = 0.8',
    replace: 'const renewAfterShare = 1.2',
    test: 'local/node-agent/volumes/tokens.test.ts',
  },
]
