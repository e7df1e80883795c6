import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { installedProgram } from '../support/installed-program.ts'
import { accepts } from '../support/raw-client.ts'

export const HAS_NGINX: boolean = installedProgram('nginx') !== null

export interface Front {
  /** With a slash at its end. */
  readonly address: string
  /** Without one. */
  readonly origin: string
  /** What nginx has said of itself. */
  log(): string
  stop(): Promise<void>
}

/** Says which of the instances gave an answer: all that were asked, the one that answered last. */
export const ANSWERED_BY = 'x-answered-by'

/** nginx with deploy/nginx/instances.conf, in which nothing is changed but where it listens and whom it asks. */
export async function startFront(ports: readonly number[]): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-front-'))
  const port = await freePort()
  const given = readFileSync(join(ROOT, 'deploy/nginx/instances.conf'), 'utf8')
  const conf = given
    .replace(/( *server marquee-\d+:8080(.*;\n))+/, (_all, _one, how: string) =>
      ports.map((each) => `  server 127.0.0.1:${each}${how}`).join(''),
    )
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
  mkdirSync(join(folder, 'temporary'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/temporary/${kind};`)
    .join('\n')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user} daemon off; pid ${folder}/nginx.pid; error_log stderr warn; worker_processes 1;
events { worker_connections 2000; }
http { access_log off; add_header ${ANSWERED_BY} $upstream_addr always; ${temporary} ${conf} }\n`,
  )
  const child = new Child('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], { cwd: folder })
  await eventually(
    () => accepts(port),
    (accepted) => accepted,
  )
  return {
    address: `http://127.0.0.1:${port}/`,
    origin: `http://127.0.0.1:${port}`,
    log: () => child.stderr,
    async stop() {
      await child.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
