import { useEffect, useState } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useParams, useRouter } from '@tanstack/react-router'
import { logOut, sessionQuery, type Session } from '../data/session.ts'
import { useConnection } from '../data/live.ts'
import { Failure } from '../parts/state.tsx'
import { Segments } from '../parts/controls.tsx'
import { ApiError } from '../data/client.ts'
import { readNext } from '../logic/search.ts'
import { chooseTheme, readTheme, themes, type Theme } from '../parts/theme.ts'
import { Keys } from './keys.tsx'
import { Logo } from '../parts/logo.tsx'
import classes from './shell.module.css'

/** The left rail, and the screen beside it. */
export function EntityShell() {
  const { data: session } = useQuery(sessionQuery)
  const { entity, project } = useParams({ strict: false })
  useLogin(session === null)
  if (!session) return null
  const isForeign = entity !== undefined && entity !== session.entity
  return (
    <div className={classes.shell}>
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <Keys entity={session.entity} project={isForeign ? undefined : project} />
      <Rail session={session} project={isForeign ? undefined : project} />
      <main id="content" tabIndex={-1} className={classes.main}>
        {isForeign ? (
          <div className={classes.alone}>
            <Failure
              heading="h1"
              error={new ApiError(403, `Your key is of the entity ${session.entity}, and this is of ${entity}.`)}
            />
          </div>
        ) : (
          <Outlet />
        )}
      </main>
    </div>
  )
}

/** Leads to the login when the session has ended: its key was revoked, or it was not used for long. */
function useLogin(isNeeded: boolean): void {
  const router = useRouter()
  useEffect(() => {
    if (isNeeded) void router.navigate({ to: '/login', search: { next: readNext(router.latestLocation.href) } })
  }, [isNeeded, router])
}

function Rail({ session, project }: { session: Session; project: string | undefined }) {
  return (
    <header className={classes.rail}>
      <Link to="/" className={classes.brand}>
        <Logo />
        <span>{session.entity}</span>
      </Link>
      {project !== undefined && <ProjectLinks entity={session.entity} project={project} />}
      <EntityLinks entity={session.entity} />
      <div className={classes.foot}>
        <Connection isShown={project !== undefined} />
        <ThemeChoice />
        <LogOut role={session.role} />
      </div>
    </header>
  )
}

function ProjectLinks({ entity, project }: { entity: string; project: string }) {
  const params = { entity, project }
  return (
    <nav aria-label="Project" className={classes.links}>
      <h2 title={project}>{project}</h2>
      <Link to="/$entity/$project" params={params} activeOptions={{ exact: true }}>
        Overview
      </Link>
      <Link to="/$entity/$project/runs" params={params}>
        Runs
      </Link>
      <Link to="/$entity/$project/weave/traces" params={params}>
        Traces
      </Link>
      <Link to="/$entity/$project/datasets" params={params}>
        Data sets
      </Link>
      <Link to="/$entity/$project/playground" params={params}>
        Playground
      </Link>
    </nav>
  )
}

function EntityLinks({ entity }: { entity: string }) {
  return (
    <nav aria-label="Entity" className={classes.links}>
      <Link to="/$entity/usage" params={{ entity }}>
        Usage
      </Link>
      <Link to="/$entity/settings" params={{ entity }}>
        Settings
      </Link>
    </nav>
  )
}

function Connection({ isShown }: { isShown: boolean }) {
  const connection = useConnection()
  if (!isShown || connection === 'connecting') return null
  return (
    <p className={classes.connection} data-lost={connection === 'lost'}>
      {connection === 'live' ? 'Live' : 'Live updates lost; asking every 5 s'}
    </p>
  )
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(readTheme)
  const choose = (next: Theme) => {
    chooseTheme(next)
    setTheme(next)
  }
  return <Segments label="Theme" choices={themes} value={theme} onChoose={choose} />
}

function LogOut({ role }: { role: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const leave = async () => {
    await logOut()
    queries.clear()
    await navigate({ to: '/login' })
  }
  return (
    <div className={classes.account}>
      <span>{role} key</span>
      <button type="button" onClick={() => void leave()}>
        Log out
      </button>
    </div>
  )
}
