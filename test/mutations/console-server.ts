import type { Mutation } from './mutation.ts'

const sessionsTest = 'test/api/sessions.test.ts'

export const consoleServerMutations: Mutation[] = [
  {
    fault: 'another site sends requests with the session of a browser',
    file: 'apiserver/accounts/keys/same-origin.ts',
    find: "if (site !== '') return site === 'same-origin'",
    replace: "if (site !== '') return site !== 'cross-site'",
    test: sessionsTest,
  },
  {
    fault: 'a form of another site changes something with a session',
    file: 'apiserver/accounts/keys/same-origin.ts',
    find: 'if (!hasBody(request) || ',
    replace: 'if (hasBody(request) || ',
    test: sessionsTest,
  },
  {
    fault: 'a cookie counts beside an Authorization header',
    file: 'apiserver/accounts/keys/authenticate.ts',
    find: "request.get('Authorization') === '' ? readSessionCookie(request, findPublicBase) : undefined",
    replace: 'readSessionCookie(request, findPublicBase)',
    test: sessionsTest,
  },
  {
    fault: 'a login code can be spent twice',
    file: 'db/accounts/sessions.ts',
    find: 'DELETE FROM auth.login_codes WHERE digest = $1\n       RETURNING',
    replace: 'UPDATE auth.login_codes SET expires_at = expires_at WHERE digest = $1\n       RETURNING',
    test: sessionsTest,
  },
  {
    fault: 'a process answers from memory to a session that was logged out',
    file: 'apiserver/accounts/keys/api-key-lookup.ts',
    find: '...(sessionId === undefined ? [] : [`session:${sessionId}`])',
    replace: '...(sessionId === undefined ? [] : [`session:${keyId}`])',
    test: sessionsTest,
  },
  {
    fault: 'the page of the console answers programs',
    file: 'apiserver/console/open-console.ts',
    find: "ctx.get('Accept')) && isConsolePage",
    replace: "'text/html') && isConsolePage",
    test: 'test/api/console-files.test.ts',
  },
  {
    fault: 'the page does not find its files below the path of a proxy',
    file: 'lib/http/place-links.ts',
    find: "path.split('/').length - 2",
    replace: "path.split('/').length - 1",
    test: 'lib/http/place-links.test.ts',
  },
  {
    fault: 'the projects are an error while the database of traces is unavailable',
    file: 'apiserver/training/projects/routes.ts',
    find: 'if (!isDatabaseUnavailable(error)) throw error',
    replace: 'throw error',
    test: 'test/cluster/tracing-database.test.ts',
  },
  {
    fault: 'an envelope loses spikes',
    file: 'apiserver/wandb/runs/envelope.ts',
    find: 'Math.max(max, later[1])',
    replace: 'later[1]',
    test: 'apiserver/wandb/runs/envelope.test.ts',
  },
  {
    fault: 'the ends of a range are left out of a chart',
    file: 'apiserver/wandb/runs/envelope-plan.ts',
    find: 'const widths = storedWidths.filter((width) => width <= stored).toReversed()',
    replace: 'const widths = storedWidths.filter((width) => width <= stored).toReversed().slice(0, 2)',
    test: 'apiserver/wandb/runs/envelope.test.ts',
  },
  {
    fault: 'a gradient step that is reported twice is counted twice',
    file: 'db/jobs/reports.ts',
    find: 'WHERE NOT EXISTS (SELECT FROM training.events e WHERE e.job_id = $1 AND e.seq = reported.seq)',
    replace: 'WHERE true',
    test: 'test/api/model-metrics.test.ts',
  },
  {
    fault: 'a stream shows the changes of other entities',
    file: 'apiserver/training/stream/hub.ts',
    find: 'this.#byEntity.get(change.entity) ?? []',
    replace: '[...this.#byEntity.values()][0] ?? []',
    test: 'test/api/change-stream.test.ts',
  },
  {
    fault: 'a client that does not read fills the memory',
    file: 'apiserver/training/stream/subscriber.ts',
    find: 'if (this.#bytes > maxWaitingBytes) this.#markTooSlow()',
    replace: '',
    test: 'apiserver/training/stream/subscriber.test.ts',
  },
]
