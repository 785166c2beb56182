import type { Mutation } from './mutation.ts'

export const inferenceMutations: Mutation[] = [
  {
    fault: 'entities share cached prompts',
    file: 'apiserver/inference/cache-salt.ts',
    find: "['cache salt', entity, own ?? null]",
    replace: "['cache salt', own ?? null]",
    test: 'apiserver/inference/cache-salt.test.ts',
  },
  {
    fault: 'an alias is served as the newest step',
    file: 'apiserver/inference/model-address.ts',
    find: 'isAlias(text) ? { step: null, alias: text }',
    replace: 'isAlias(text) ? { step: null, alias: null }',
    test: 'apiserver/inference/model-address.test.ts',
  },
  {
    fault: 'prompt tokens are charged as completion tokens',
    file: 'apiserver/inference/chat-meter.ts',
    find: "promptTokens: readCount(usage['prompt_tokens'])",
    replace: "promptTokens: readCount(usage['completion_tokens'])",
    test: 'apiserver/inference/chat-meter.test.ts',
  },
  {
    fault: 'a request goes to the busiest engine',
    file: 'apiserver/inference/engine-client.ts',
    find: 'load(a) - load(b)',
    replace: 'load(b) - load(a)',
    test: 'apiserver/inference/engine-client.test.ts',
  },
  {
    fault: 'a request goes to an engine of another base model',
    file: 'apiserver/inference/engine-pods.ts',
    find: 'ready && ip && own[labels.baseModel] === baseModelCrName ?',
    replace: 'ready && ip && own[labels.baseModel] ?',
    test: 'apiserver/inference/engine-pods.test.ts',
  },
  {
    fault: 'engines get members that no list names',
    file: 'apiserver/inference/engine-request.ts',
    find: '    ...leaveOut(chat),\n',
    replace: '',
    test: 'apiserver/inference/engine-request.test.ts',
  },
  {
    fault: 'the tools of a chat have no bound',
    file: 'apiserver/inference/grammar.ts',
    find: 'return count > maxTools ?',
    replace: 'return count > maxTools * maxTools ?',
    test: 'apiserver/inference/grammar.test.ts',
  },
  {
    fault: 'an engine opens an address for a client',
    file: 'apiserver/inference/media.ts',
    find: 'const dataScheme = /^data:/i',
    replace: 'const dataScheme = /^(data|https?):/i',
    test: 'apiserver/inference/media.test.ts',
  },
  {
    fault: 'a grammar that no engine can use is answered as a fault of the form',
    file: 'apiserver/inference/engine-errors.ts',
    find: "if (status === 400 && type === 'GrammarError') return",
    replace: "if (status === 422 && type === 'GrammarError') return",
    test: 'apiserver/inference/engine-errors.test.ts',
  },
  {
    fault: 'several replies are counted as one',
    file: 'apiserver/inference/reply-size.ts',
    find: '(chat.n ?? 1) * (maxTokens',
    replace: '(maxTokens',
    test: 'apiserver/inference/reply-size.test.ts',
  },
]
