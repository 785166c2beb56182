import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { sessionQuery } from '../../data/session.ts'
import { Command } from '../../parts/command.tsx'
import controls from '../../parts/controls.module.css'
import { Page, Section } from '../../parts/page.tsx'
import { NewKey } from './new-key.tsx'
import classes from './settings.module.css'

/** Where the login prompts of weave and wandb send people: a key for them. */
export function AuthorizeScreen() {
  const { data: session } = useQuery(sessionQuery)
  const [isMaking, setMaking] = useState(false)
  const entity = session?.entity ?? ''
  return (
    <Page title="A key for your program">
      <Section title="The key">
        {session?.role === 'admin' ? (
          <div className={classes.column}>
            <p className={classes.note}>
              A new key is shown once. Copy it, and paste it where the program asks for it.
            </p>
            <button type="button" className={controls.primary} onClick={() => setMaking(true)}>
              Create a key
            </button>
            <Link className={controls.quiet} to="/$entity/settings/keys" params={{ entity }}>
              All keys of {entity}
            </Link>
          </div>
        ) : (
          <p className={classes.note}>
            Your key has the role {session?.role}, and only keys with the role admin create keys. Use the key that you
            logged in with, or ask an admin of {entity} for one. Keys are stored nowhere as text, so this page cannot
            show yours.
          </p>
        )}
      </Section>
      <Section title="Log in with it">
        <div className={classes.column}>
          <p className={classes.note}>
            The two variables make wandb and weave use this server; the first one also tells them where it is.
          </p>
          <Command text={`export WANDB_BASE_URL=${baseUrl}\nexport WANDB_API_KEY=...`} />
        </div>
      </Section>
      {isMaking && <NewKey onClose={() => setMaking(false)} />}
    </Page>
  )
}
