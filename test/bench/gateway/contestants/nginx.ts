import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { childEnvironment } from '../../../../local/config.ts'
import { findFreePort } from '../../../support/free-port.ts'
import { withContestant } from '../../tracing/contestant.ts'
import { installNginx } from '../../../support/install-nginx.ts'
import { listTree } from '../processor.ts'
import { workloadNames } from '../workloads.ts'
import type { Contestant, EngineAddress } from './contestant.ts'

const apiKey = 'bench-key'

/** Debian's nginx with one worker and a key: the cost of a proxy without models, limits or usage. */
export async function withNginx<T>(engine: EngineAddress, work: (found: Contestant) => Promise<T>): Promise<T> {
  const { command, env } = await installNginx()
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-nginx-'))
  const port = await findFreePort()
  const file = path.join(folder, 'nginx.conf')
  await writeFile(file, writeConfig({ folder, port, engine }))
  const how = {
    command,
    args: ['-c', file, '-p', folder, '-e', path.join(folder, 'error.log')],
    env: childEnvironment(env),
    url: `http://127.0.0.1:${port}`,
    healthPath: '/',
  }
  const describe = (pid: number): Contestant => ({
    name: 'nginx',
    host: '127.0.0.1',
    port,
    apiKey,
    models: ['bench-model'],
    listProcesses: () => ({ own: listTree(pid), postgres: [] }),
    workloads: workloadNames,
    share: 1,
  })
  try {
    return await withContestant(how, ({ pid }) => work(describe(pid)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * A single process, so that none is left when it is ended. Connections to the engine are kept, and events are passed on
 * at once.
 */
function writeConfig({ folder, port, engine }: { folder: string; port: number; engine: EngineAddress }): string {
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_max_body_size 256m;
  client_body_buffer_size 128k;
  keepalive_requests 10000000;
  keepalive_timeout 600s;
  map $http_authorization $is_known { default 0; "Bearer ${apiKey}" 1; }
  upstream engine {
    server ${engine.host}:${engine.port};
    keepalive 2000;
    keepalive_requests 10000000;
    keepalive_timeout 600s;
  }
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location / { return 204; }
    location /v1/ {
      if ($is_known = 0) { return 401; }
      proxy_pass http://engine;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`
}
