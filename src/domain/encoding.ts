/**
 * Returns a decoder that throws on malformed input if `fatal`, and else replaces it by U+FFFD; `null` if the runtime
 * does not know the label.
 */
export function openDecoder(label: string, fatal = true): TextDecoder | null {
  try {
    // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the runtime knows more labels than its types do
    const decoder = new TextDecoder(label as 'utf-8', { fatal })
    // Node 24.0 to 24.6 reads windows-1252 as Latin-1 unless the decoder has decoded a stream (nodejs/node#59515).
    decoder.decode(new Uint8Array(), { stream: true })
    return decoder
  } catch (cause) {
    if (cause instanceof RangeError) return null
    throw new Error(`the encoding ${label} cannot be opened`, { cause })
  }
}
