/** How one sees that a program is ready to serve. */
export type Readiness =
  | { kind: 'socket'; path: string }
  | { kind: 'port'; port: number }
  | { kind: 'postmaster'; pidFile: string }
  | { kind: 'kubernetes'; url: string; authority: string; tokenFile: string }
  /** It runs, and nothing more can be seen from outside. */
  | { kind: 'running' }

/** A program that the supervisor keeps running. Written to a file, so plain data only. */
export interface ProgramSpec {
  name: string
  command: string
  args: string[]
  cwd: string
  env: Record<string, string>
  user?: { uid: number; gid: number }
  /** Programs that must have been ready once before this one is started. */
  after: string[]
  ready: Readiness
  stopSignal: 'SIGTERM' | 'SIGINT'
  /** After this long a stop is enforced. */
  stopTimeoutMs: number
}
