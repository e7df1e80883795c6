// Loaded before each test file that imports fast-check. It gives fast-check the seed of the run, which makes a run repeatable.
import fc from 'fast-check'
import { SEED } from './depth.ts'

fc.configureGlobal({ seed: SEED })
