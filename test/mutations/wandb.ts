import type { Mutation } from './mutation.ts'

export const wandbMutations: Mutation[] = [
  {
    fault: 'a link is for any path',
    file: 'apiserver/wandb/links/signature.ts',
    find: '[method, path, expires, keyDigest].join',
    replace: '[method, expires, keyDigest].join',
    test: 'apiserver/wandb/links/links.test.ts',
  },
  {
    fault: 'a link never ends',
    file: 'apiserver/wandb/links/links.ts',
    find: 'claims.expires * 1_000 < Date.now()',
    replace: 'claims.expires * 1_000 < 0',
    test: 'apiserver/wandb/links/links.test.ts',
  },
  {
    fault: 'fragments in a circle are followed',
    file: 'apiserver/wandb/graphql/plan.ts',
    find: 'this.#open.has(name)',
    replace: "this.#open.has('')",
    test: 'apiserver/wandb/graphql/answer.test.ts',
  },
  {
    fault: 'a query may repeat a field at its root a thousand times',
    file: 'apiserver/wandb/graphql/plan.ts',
    find: 'const maxRootFields = 20',
    replace: 'const maxRootFields = 2_000',
    test: 'apiserver/wandb/graphql/answer.test.ts',
  },
  {
    fault: 'forwarded headers count from everybody',
    file: 'lib/http/public-base.ts',
    find: "isListed(proxies, request.socket.remoteAddress ?? '')",
    replace: "isListed(proxies, request.socket.remoteAddress ?? '') || true",
    test: 'lib/http/public-base.test.ts',
  },
  {
    fault: 'a line of a run that is sent again counts twice',
    file: 'db/runs/write-lines.ts',
    find: 'FROM written WHERE inserted GROUP BY',
    replace: 'FROM written GROUP BY',
    test: 'test/control/wandb-runs.test.ts',
  },
  {
    fault: 'a run without a heartbeat stays running',
    file: 'db/runs/table.ts',
    find: "interval '5 minutes'",
    replace: "interval '5 years'",
    test: 'test/control/wandb-runs.test.ts',
  },
  {
    fault: 'API keys stay in the config of a run',
    file: 'apiserver/wandb/runs/read-input.ts',
    find: 'cleanJsonText(maskKeys(text))',
    replace: 'cleanJsonText(text)',
    test: 'test/control/wandb-runs.test.ts',
  },
  {
    fault: "another entity's run can be deleted",
    file: 'db/runs/remove.ts',
    find: "WHERE entity = $1 AND id = $2 AND deleted_at IS NULL'",
    replace: "WHERE id = $2 AND $1 IS NOT NULL AND deleted_at IS NULL'",
    test: 'test/control/wandb-runs.test.ts',
  },
  {
    fault: 'a pattern of a filter may refer back',
    file: 'db/runs/filter.ts',
    find: '/\\\\[1-9]|',
    replace: '/',
    test: 'db/runs/filter.test.ts',
  },
]
