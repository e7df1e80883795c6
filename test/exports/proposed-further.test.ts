import { describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'

const EVENTS = `Nr;Titel;Datum;Beginn;Ende;Saal;Plätze;Verkauft;Preis;Sparte;Kurztext;Bild;Zustand;Öffentlich;Regie;Pause (min);Übertitel;Links;Einlass
1;Figaro;12.07.2036;19:30;22:30;Großes Haus;250;40;25,00;Oper;<p>Eine <b>Oper</b></p><p>von Mozart</p>;https://www.example.org/figaro.jpg;geplant;ja;A. Huber;20;yes;x;2036-07-12T19:00
2;Tosca;13.07.2036;19:30;22:00;Großes Haus;250;10;35,00;Oper;<p>Puccini</p>;;abgesagt;ja;B. Maier;20;no;y;2036-07-13T19:00
3;Faust;14.07.2036;19:00;22:00;Kleines Haus;90;90;15,00;Schauspiel;;https://www.example.org/faust.jpg;verlegt;ja;C. Lang;;yes;z;2036-07-14T18:30
`
const VENUES =
  'Name;Straße;PLZ;Stadt;Barrierefrei;Name (lang);東京\nGroßes Haus;Platz 1;89073;Ulm;true;GH;a\nKleines Haus;Platz 2;89073;Ulm;false;KH;b\n'

describe('init --from proposes what nothing reads as further fields (contract §7)', () => {
  it('as comments that publish nothing, and all of it once their # is removed', async () => {
    using folder = new WorkFolder({ 'Spielplan.csv': EVENTS, 'Orte.csv': VENUES })
    const args = ['init', 'files', '--from', 'Spielplan.csv', '--from', 'Orte.csv']
    expect((await runCommand(args, { cwd: folder.path })).status).toBe(0)
    const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
    const before = await runCommand(['check', '--show', '1'], { cwd: folder.path })
    expect([before.status, before.stdout.includes('"Description":"Eine Oper')]).toEqual([0, false])

    const uncommented = text
      .replaceAll(/^( {6})# (?=[A-Z]\w+: )/gm, '$1')
      .replace(/^# representation:(?:\n#.*)*/m, (block) => block.replaceAll(/^# /gm, ''))
      .replace(/^( {4}active:) \{ Zustand.*$/m, '$1 null')
    folder.write('marquee.yaml', uncommented)
    const after = await runCommand(['check', '--show', '3'], { cwd: folder.path })
    expect([after.status, after.stderr.includes('marquee.yaml:')]).toEqual([0, false])
    const [first, second, third] = after.stdout.split('\n').filter((line) => line.startsWith('{"Id"'))
    const links = ',"_links":['
    expect(first).toContain(
      `"Tags":["Oper"],"Status":"scheduled","Description":"Eine Oper\\nvon Mozart","Image":"https://www.example.org/figaro.jpg","Regie":"A. Huber","PauseMin":20,"Ubertitel":true,"Links2":"x","Einlass":"2036-07-12T19:00:00+00:00"${links}`,
    )
    expect(second).toContain('"Status":"cancelled","Description":"Puccini","Image":null')
    expect(third).toContain('"Status":"postponed","Description":null')
    expect(after.stdout).toContain(`"Website":null,"Barrierefrei":true,"NameLang":"GH","Further":"a"${links}`)
  })
})
