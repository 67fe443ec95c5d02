// Lists in package-lock.json the optional packages for other platforms that npm left out because the registry
// in use did not offer them. Without them `npm ci` calls the lockfile out of sync. With --check, only tells.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'wasm32'];

/** What npm needs to know to skip `@swc/core-linux-x64-musl` elsewhere, read from its name. */
function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[-/]/);
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  if (cpu === undefined || (os === undefined && cpu !== 'wasm32')) {
    throw new Error(
      `cannot tell the platform of ${name} from its name: add it to package-lock.json by hand.`,
    );
  }
  const libc = os !== 'linux' ? undefined : /musl/.test(name) ? 'musl' : 'glibc';
  return { cpu: [cpu], ...(libc && { libc: [libc] }), ...(os && { os: [os] }) };
}

const file = join(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as { readonly packages: Record<string, LockedPackage> };
const added: string[] = [];

for (const { dev, optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const path = `node_modules/${name}`;
    if (Object.keys(lock.packages).some((key) => key === path || key.endsWith(`/${path}`))) continue;
    if (!/^\d/.test(version)) throw new Error(`cannot lock ${name}: ${version} is not one version.`);
    lock.packages[path] = { version, ...(dev && { dev }), optional: true, ...platformOf(name) };
    added.push(name);
  }
}

if (added.length > 0 && process.argv.includes('--check')) {
  console.error(`package-lock.json lacks ${added.join(', ')}: run \`npm run lock\`.`);
  process.exitCode = 1;
} else if (added.length > 0) {
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
