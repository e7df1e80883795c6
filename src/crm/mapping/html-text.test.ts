import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { htmlText } from './html-text.ts'

describe('the text of an HTML cell (contract §7)', () => {
  for (const [what, html, text] of [
    ['drops tags', '<b>Sea</b> <i class="a">songs</i>', 'Sea songs'],
    ['is not read as tags where there are none', 'Tea < 5 & cake > 3', 'Tea < 5 & cake > 3'],
    ['drops what scripts and styles hold', 'a<script>alert("<p>x</p>")</script><style>p { color: red }</style>b', 'ab'],
    ['drops comments and declarations', '<!doctype html><!-- <p>not</p> -->Seen', 'Seen'],
    ['collapses white space as a browser does', '  One \r\n\t two  <b> three</b> ', 'One two three'],
    ['keeps a no-break space', 'ten&nbsp;&nbsp;pounds', 'ten\u00a0\u00a0pounds'],
    ['breaks the line at br, however it is written', 'One<br>two<br/>three<BR />four', 'One\ntwo\nthree\nfour'],
    ['breaks the line at the end of a block', '<p>One</p><p>Two</p><div>Three</div>', 'One\nTwo\nThree'],
    ['drops white space around line breaks', '<p> One </p>\n  <p> Two <br> three </p>', 'One\nTwo\nthree'],
    ['keeps one empty line of several', '<p>One</p><br><br><br><p>Two</p>', 'One\n\nTwo'],
    ['breaks the line for each of nested blocks', '<div><div><p>One</p></div></div><p>Two</p>', 'One\n\nTwo'],
    [
      'does not join a block to the text before it',
      'Programme:<ul><li>Bach</li><li>Berg</li></ul>',
      'Programme:\nBach\nBerg',
    ],
    ['ends blocks that the author did not end', '<p>One<p>Two<ul><li>a<li>b</ul>', 'One\nTwo\na\nb'],
    [
      'keeps the cells of a table apart',
      '<table><tr><td>7 pm</td><td>Doors</td></tr><tr><td>8 pm</td></tr></table>',
      '7 pm Doors\n8 pm',
    ],
    ['decodes entities', '&lt;b&gt; &amp; &quot;caf&eacute;&quot; &#8364;5 &#x1F3AD; &rsquo;', '<b> & "café" €5 🎭 ’'],
    ['keeps what is not an entity', 'R&B, &nosuch; &', 'R&B, &nosuch; &'],
    ['keeps the lines of preformatted text', '<pre>a\n  b</pre>c', 'a\n  b\nc'],
    ['is trimmed', '<p>&nbsp;</p><p>One</p><p><br></p>', 'One'],
    ['is empty if no text is left', '<p><br></p><img src="x.jpg">', ''],
    ['of an empty cell is empty', '', ''],
    ['survives broken markup', '<p>One <b>two</p> three</i> <a href="x', 'One two\nthree'],
  ] as const) {
    it(what, () => expect(htmlText(html)).toBe(text))
  }

  it('of elements nested without end is refused instead of taking minutes', () => {
    const before = performance.now()
    expect(htmlText(`${'<b>'.repeat(100_000)}${'</i>'.repeat(100_000)}`)).toBeNull()
    expect(performance.now() - before).toBeLessThan(20_000)
    expect(htmlText(`${'<div>'.repeat(200)}deep${'</div>'.repeat(200)}`)).toBe('deep')
  })

  it('leaves any text without markup as a browser shows it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'ß', '🎭', '.', ','), minLength: 1 })), (words) => {
        expect(htmlText(words.join(' \n\t'))).toBe(words.join(' '))
      }),
    )
  })

  it('has no line break beside white space, and no three in a row, whatever the markup is', () => {
    const pieces = fc.constantFrom(
      '<p>',
      '</p>',
      '<br>',
      ' ',
      '\n',
      'a',
      '<b>',
      '</b>',
      '<li>',
      '<div>',
      '</div>',
      '&amp;',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        expect(htmlText(parts.join(''))).not.toMatch(/\n{3}|[ \t]\n|\n[ \t]|^\s|\s$/)
      }),
    )
  })
})
