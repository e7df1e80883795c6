// Loaded before each test file: what fast-check draws begins where all chance of the run begins, so that a run can be repeated.
import fc from 'fast-check'
import { SEED } from './depth.ts'

fc.configureGlobal({ seed: SEED })
