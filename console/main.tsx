import './styles/tokens.css'
import './styles/base.css'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from '@tanstack/react-router'
import { applyTheme, readTheme } from './parts/theme.ts'
import { router } from './router.tsx'

applyTheme(readTheme())
createRoot(document.getElementById('root')!).render(<RouterProvider router={router} />)
