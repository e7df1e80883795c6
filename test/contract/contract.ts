import { afterAll, beforeAll, describe } from 'bun:test'
import { basePathSentences } from './base-path.ts'
import { conditionalSentences } from './conditional.ts'
import { descriptionSentences } from './description.ts'
import { endpointSentences } from './endpoints.ts'
import { etagSentences } from './etags.ts'
import { feedSentences } from './feed-sentences.ts'
import { freshnessSentences } from './freshness.ts'
import { furtherSentences } from './further-sentences.ts'
import { goldenSentences } from './golden.ts'
import { headerSentences } from './headers.ts'
import { idSentences } from './ids.ts'
import { includedVenueSentences } from './included-venues.ts'
import { listSentences } from './lists.ts'
import { methodSentences } from './methods.ts'
import { negotiationSentences } from './negotiation.ts'
import { problemSentences } from './problems.ts'
import { LISTS } from './rows.ts'
import type { Start, Subject } from './subject.ts'
import { tagSentences } from './tags.ts'
import { withheldSentences } from './withheld.ts'

/** All rules of the contract that a caller can check, for a Marquee that `start` starts. */
export function contract(name: string, start: Start, hasLists = false): void {
  describe(`the contract, ${name}`, () => {
    let subject: Subject
    beforeAll(async () => {
      subject = await start({}, LISTS)
    })
    afterAll(() => subject.stop())

    for (const sentences of [
      endpointSentences,
      methodSentences,
      headerSentences,
      negotiationSentences,
      withheldSentences,
    ]) {
      sentences(() => subject)
    }
    idSentences(() => subject, hasLists)
    problemSentences(() => subject, hasLists)
    basePathSentences(start, hasLists)
    for (const sentences of [
      conditionalSentences,
      etagSentences,
      freshnessSentences,
      goldenSentences,
      listSentences,
      includedVenueSentences,
      tagSentences,
      feedSentences,
      furtherSentences,
      descriptionSentences,
    ]) {
      sentences(start)
    }
  })
}
