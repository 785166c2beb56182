/** How to check that a program is ready. */
export type Readiness =
  | { kind: 'socket'; path: string }
  | { kind: 'port'; port: number }
  | { kind: 'postmaster'; pidFile: string }
  | { kind: 'kubernetes'; url: string; authority: string; tokenFile: string }
  /** It runs. Nothing more can be checked from outside. */
  | { kind: 'running' }

/** A program that the supervisor keeps running. It is written to a file, so it contains plain data only. */
export interface ProgramSpec {
  name: string
  command: string
  args: string[]
  cwd: string
  env: Record<string, string>
  user?: { uid: number; gid: number }
  /** Programs that must have been ready once before this one starts. */
  after: string[]
  ready: Readiness
  stopSignal: 'SIGTERM' | 'SIGINT'
  /** After this time, a stop uses SIGKILL. */
  stopTimeoutMs: number
}
