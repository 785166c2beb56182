import { Link, useParams } from '@tanstack/react-router'

/** The project that a screen is of, as the way to its overview. */
export function ProjectLink() {
  const params = useParams({ from: '/inside/$entity/$project' })
  return (
    <Link to="/$entity/$project" params={params}>
      {params.project}
    </Link>
  )
}
