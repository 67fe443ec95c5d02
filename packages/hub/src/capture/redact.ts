/** One kind of secret: letters it cannot be without, by which most texts are told to have none, and how it looks. */
interface Secret {
  readonly kind: string;
  readonly needs: readonly string[];
  readonly pattern: RegExp;
  /** Whether what was found, and the letter behind it, is one after all. */
  readonly really?: (found: string, next: string) => boolean;
}

const words = (...needs: readonly string[]): readonly string[] => needs;

/**
 * Keys whose issuers gave them a form of their own. The first group, where there is one, is kept. What follows a run of
 * any length is told by `really`: a pattern that fails behind one would look at all of it again from every place in it.
 */
const secrets: readonly Secret[] = [
  { kind: 'private key', needs: words('PRIVATE KEY'), pattern: /(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g },
  { kind: 'token', needs: words('eyJ'), pattern: /\beyJ[\w-]{8,}(?:\.eyJ[\w-]{8,}\.[\w-]{8,})?/g, really: (found) => found.includes('.') },
  { kind: 'password', needs: words('://'), pattern: /(:\/\/[^\s/:@"'\\]{0,256}:)[^\s/@"'\\]{1,256}(?=@)/g },
  { kind: 'authorization', needs: words('uthorization', 'UTHORIZATION'), pattern: /((?:proxy-)?authorization\\*["']?\s*[:=]\s*\\*["']?(?:bearer|basic|token|digest)\s+)[\w.~+/=-]{8,}/gi },
  { kind: 'aws key', needs: words('AKIA', 'ASIA', 'ABIA', 'ACCA'), pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g },
  { kind: 'github token', needs: words('ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'), pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{22,255})/g },
  { kind: 'gitlab token', needs: words('gl'), pattern: /\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{20,}/g },
  { kind: 'slack token', needs: words('xox', 'xapp-'), pattern: /\b(?:xox[abceoprs]-(?:\d-)?[\w-]{10,}|xapp-\d-[\w-]{10,})/g },
  { kind: 'webhook', needs: words('hooks.slack.com', '/api/webhooks/'), pattern: /((?:hooks\.slack\.com\/(?:services|workflows|triggers)\/|\/api\/webhooks\/\d+\/))[\w/-]{10,}/g },
  { kind: 'api key', needs: words('sk-'), pattern: /\bsk-(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-)?[\w-]{20,}/g, really: isRandom },
  { kind: 'google key', needs: words('AIza', 'GOCSPX-', 'ya29.', '1//0'), pattern: /\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1\/\/0[\w-]{30,})/g },
  { kind: 'stripe key', needs: words('_live_', '_test_', 'whsec_'), pattern: /\b(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,})/g },
  { kind: 'twilio key', needs: words('SK', 'AC'), pattern: /\b(?:SK|AC)[0-9a-f]{32}\b/g },
  { kind: 'mail key', needs: words('SG.', 'key-', 'xkeysib-', 're_'), pattern: /\b(?:SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32}|xkeysib-[0-9a-f]{64}-\w{16}|re_[A-Za-z0-9]{6,}_[A-Za-z0-9]{18,})/g },
  { kind: 'package token', needs: words('npm_', 'pypi-', 'rubygems_', 'dckr_pat_', 'cio'), pattern: /\b(?:npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,}|rubygems_[0-9a-f]{48}|dckr_(?:pat|oat)_[\w-]{20,}|cio[A-Za-z0-9]{32})\b/g },
  { kind: 'cloud token', needs: words('_v1_', 'dapi', 'hvs.', 'hvb.', 'tskey-', 'FlyV1', 'fo1_', 'pul-', '.atlasv1.'), pattern: /\b(?:do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}(?:-\d)?|hv[sb]\.[\w-]{20,}|tskey-[a-z]+-[\w-]{10,}|FlyV1 [\w+/=,-]{20,}|fo1_[\w-]{20,}|pul-[0-9a-f]{40}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,})/g },
  { kind: 'model key', needs: words('hf_', 'r8_', 'gsk_', 'xai-', 'pplx-', 'fw_', 'nvapi-', 'csk-', 'tgp_v1_', 'jina_', 'lsv2_', 'api_org_'), pattern: /\b(?:hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|fw_[A-Za-z0-9]{20,}|nvapi-[\w-]{40,}|csk-[a-z0-9]{40,}|tgp_v1_[\w-]{30,}|jina_[A-Za-z0-9]{40,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})/g },
  { kind: 'service token', needs: words('lin_api_', 'ntn_', 'secret_', 'figd_', 'shpat_', 'shpca_', 'shppa_', 'shpss_', 'sq0', 'EAAA', 'nfp_', 'sbp_', 'pscale_', 'dp.', 'PMAK-', 'ATATT3', 'ATBB', 'CCIPAT_', 'bkua_', 'ops_eyJ', 'sntry', 'glc_', 'glsa_', 'NRAK-', 'NRJS-', 'pat', 'AGE-SECRET-KEY-', 'rnd_', 'vercel_', 'vc', 'phc_', 'phx_', 'cfut_', 'v1.0-'), pattern: /\b(?:lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}|fig[dour]_[\w-]{20,}|shp(?:at|ca|pa|ss)_[0-9a-f]{32}|sq0[a-z]{3}-[\w-]{22,}|EAAA[\w-]{60}|nfp_[A-Za-z0-9]{36,}|sbp_[0-9a-f]{40}|pscale_(?:tkn|oauth|pw)_[\w.-]{30,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|ATATT3[\w=-]{50,}|ATBB[A-Za-z0-9]{28,}|CCIPAT_[\w]{20,}|bkua_[0-9a-f]{40}|ops_eyJ[\w+/=-]{100,}|sntry[su]_[\w+/=]{40,}|gl(?:c|sa)_[\w+/=]{32,}|NRAK-[A-Z0-9]{27}|NRJS-[0-9a-f]{19}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|AGE-SECRET-KEY-1[A-Z0-9]{58}|rnd_[A-Za-z0-9]{28,}|ph[cx]_[A-Za-z0-9]{40,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,})/g },
  { kind: 'bot token', needs: words(':AA', '.'), pattern: /\b(?:\d{8,10}:AA[\w-]{32,34}|[MNO][A-Za-z\d]{23,25}\.[\w-]{6}\.[\w-]{27,38})(?![\w-])/g },
  { kind: 'account key', needs: words('AccountKey=', 'SharedAccessKey=', 'sig='), pattern: /((?:Account|SharedAccess)Key=|[?&]sig=)[\w+/%=-]{20,}/g },
  { kind: 'poly token', needs: words('POLY_TOKEN'), pattern: /(POLY_TOKEN\\*["']?\s*[:=]\s*\\*["']?)[\w-]{43}/g },
  {
    kind: 'secret',
    needs: words('assw', 'ASSW', 'ecret', 'ECRET', 'oken', 'OKEN', 'key', 'KEY', 'Key', 'redential', 'REDENTIAL'),
    pattern: /((?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|credentials?)\\*["']?\s*(?:[:=]|=>)\s*\\*["']?)[A-Za-z0-9+/_=.~!@#$%^&*-]{12,}/gi,
    really: (found, next) => /^[\s"'\\,;)}\]]?$/.test(next) && isRandom(found),
  },
]; // biome-ignore format: a table

/**
 * Secrets made unreadable, everything else as it was, byte for byte. Whatever is stored or shown of what agents did has
 * gone through here.
 */
export function redactBytes(bytes: Buffer): Buffer {
  // One letter a byte, so that bytes that are no text pass unchanged; all that is looked for is ASCII.
  const text = bytes.toString('latin1');
  const redacted = redact(text);
  return redacted === text ? bytes : Buffer.from(redacted, 'latin1');
}

export function redact(text: string): string {
  let out = text;
  for (const { kind, needs, pattern, really } of secrets) {
    if (!needs.some((need) => out.includes(need))) continue;
    const before = out;
    out = before.replace(pattern, (found: string, ...groups: readonly unknown[]) => {
      const kept = typeof groups[0] === 'string' ? groups[0] : '';
      const next = before.charAt(Number(groups.at(-2)) + found.length);
      return really && !really(found.slice(kept.length), next) ? found : `${kept}[redacted ${kind}]`;
    });
  }
  return out;
}

/** Words and paths are not drawn at random: what is has letters and digits, and hardly a letter twice in a row of few. */
function isRandom(found: string): boolean {
  if (!/\d/.test(found) || !/[A-Za-z]/.test(found)) return false;
  const counts = new Map<string, number>();
  for (const letter of found) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / found.length) * Math.log2(count / found.length);
  return bits >= 3;
}
