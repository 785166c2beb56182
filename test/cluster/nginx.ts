import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { childEnvironment } from '../../local/config.ts'
import { startChildProgram } from '../support/child-program.ts'
import { findFreePort } from '../support/free-port.ts'
import { findDebianProgram } from '../support/debian-package.ts'

/** The libraries that nginx is linked with, except the C library, which is the machine's own. */
const libraries = /^\s*Depends: (lib(?:pcre|ssl|crypt)\S*|zlib\S*)$/gm
const page = path.join(import.meta.dirname, '..', '..', 'docs', 'ingress.md')

/** A running nginx, on loopback. */
export interface RunningNginx {
  url: string
  stop: () => Promise<void>
}

/** Starts nginx with the configuration of docs/ingress.md, in front of the server at a URL. */
export async function startNginx(server: string): Promise<RunningNginx> {
  const { command, env } = await findDebianProgram('usr/sbin/nginx', { name: 'nginx', libraries })
  const folder = await mkdtemp(path.join(tmpdir(), 'nginx-'))
  const port = await findFreePort()
  const file = path.join(folder, 'nginx.conf')
  await writeFile(file, wrap(await readConfig(new URL(server).host, port), folder))
  const args = ['-c', file, '-p', folder, '-e', path.join(folder, 'error.log')]
  const url = `http://127.0.0.1:${port}`
  const ready = async () => {
    if (!(await fetch(`${url}/v1/health`)).ok) throw new Error('nginx does not lead to the server yet')
  }
  return { url, stop: await startChildProgram({ command, args, env: childEnvironment(env), folder, ready }) }
}

/** The page's configuration, with addresses of this machine. */
async function readConfig(server: string, port: number): Promise<string> {
  const [, config] = /```nginx\n(.*?)```/s.exec(await readFile(page, 'utf8')) ?? []
  if (config === undefined) throw new Error('docs/ingress.md has no configuration of nginx')
  return config
    .replace('trainyard-apiserver.trainyard.svc:8080', server)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
}

/** A single process, so that none is left when it is ended. */
function wrap(config: string, folder: string): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { }
http {
  access_log off;
  ${folders.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  ${config}
}
`
}
