import type { Mutation } from './mutation.ts'

export const consoleMutations: Mutation[] = [
  {
    fault: 'an address of another host follows a login',
    file: 'console/logic/search.ts',
    find: '/^\\/(?![/\\\\])[^\\s\\\\]*$/.test(text)',
    replace: 'text !== "javascript:alert(1)"',
    test: 'console/logic/search.test.ts',
  },
  {
    fault: 'characters that reorder text stay hidden',
    file: 'console/logic/chat.ts',
    find: '\\u2028-\\u202e',
    replace: '\\u2028-\\u202d',
    test: 'console/logic/chat.test.ts',
  },
  {
    fault: 'a command for the shell quotes nothing',
    file: 'console/logic/command.ts',
    find: '(/^[\\w@%+=:,./$-]+$/.test(text) ? text :',
    replace: "(text !== '' ? text :",
    test: 'console/logic/command.test.ts',
  },
  {
    fault: 'a group with equal rewards is said to have taught something',
    file: 'console/logic/groups.ts',
    find: "return 'equal rewards'",
    replace: 'return undefined',
    test: 'console/logic/groups.test.ts',
  },
  {
    fault: 'a chart of validation is apart from that of training',
    file: 'console/logic/series.ts',
    find: "['reward', 'train/reward', 'val/reward'],",
    replace: "['reward', 'train/reward'],",
    test: 'console/logic/series.test.ts',
  },
  {
    fault: 'very different texts have no difference',
    file: 'console/logic/diff.ts',
    find: 'return undefined',
    replace: 'return []',
    test: 'console/logic/diff.test.ts',
  },
  {
    fault: 'an error in the stream of a chat is no error',
    file: 'console/logic/chat-stream.ts',
    find: "if (error) throw new StreamError(error.message ?? 'The stream ended with an error.')",
    replace: 'if (error) return answer',
    test: 'console/logic/chat-stream.test.ts',
  },
  {
    fault: 'small groups are missing in the chart of the usage',
    file: 'console/logic/usage.ts',
    find: 'series.slice(maxSeries - 1)',
    replace: 'series.slice(maxSeries)',
    test: 'console/logic/usage.test.ts',
  },
  {
    fault: 'a dialog that is closed takes keys until its end is told',
    file: 'console/parts/use-key.ts',
    find: "closest('dialog[open]')",
    replace: "closest('dialog')",
    test: 'test/browser/trajectories.test.ts',
  },
]
