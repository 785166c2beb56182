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
]
