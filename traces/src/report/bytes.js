// Decodes the numbers in the page: varints in base64, encoded by `bytes.rs`.

/** The bytes of a section. The text is dropped, because it may take tens of megabytes. */
function takeSection(name) {
  const element = document.getElementById(`section-${name}`);
  const text = element.textContent.trim();
  element.remove();
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Reads numbers sequentially. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** A whole number of at most 2^53. Shifts work on 32 bits, so the higher part is added by multiplication. */
  number() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      byte = bytes[this.at++];
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    for (let factor = 2 ** 28; ; factor *= 128) {
      byte = bytes[this.at++];
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  /** A zigzag-encoded difference. */
  difference() {
    const zigzag = this.number();
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  }

  /** A double: eight bytes, the lowest first. */
  double() {
    const value = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8).getFloat64(0, true);
    this.at += 8;
    return value;
  }
}
