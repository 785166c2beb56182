import { Outlet, useParams } from '@tanstack/react-router'
import { useLiveProject } from '../data/live.ts'

/** What all screens of a project share: they follow its changes. */
export function ProjectShell() {
  const { project } = useParams({ from: '/inside/$entity/$project' })
  useLiveProject(project)
  return <Outlet />
}
