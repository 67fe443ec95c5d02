import { fitsText } from '../platform/rules.ts';

/**
 * Variables that decide which code a program runs: what is loaded into it, read by it first, or started by it. `*`
 * stands for any characters. No such list is whole; it has what is widely read.
 */
const codeVariables: Readonly<Record<string, readonly string[]>> = {
  'where programs and settings are found': ['PATH', 'HOME', 'SHELL', 'XDG_CONFIG_*', 'XDG_DATA_*'],
  'the loader and the C library': ['LD_*', 'DYLD_*', 'GLIBC_*', 'GCONV_PATH', 'LOCPATH', 'NLSPATH'],
  shells: ['BASH*', 'ENV', 'ZDOTDIR', 'FPATH', 'SHELLOPTS', 'PS4', 'PROMPT_COMMAND', 'IFS', 'INPUTRC'],
  'what others start for the user': ['*EDITOR', 'VISUAL', '*PAGER', 'BROWSER', '*ASKPASS', 'LESS*', 'FCEDIT'],
  'editors and terminals': ['VIM*', 'EXINIT', 'EMACS*', 'TERMINFO*', 'TERMCAP'],
  git: ['GIT_*'],
  'poly and its plugins': ['POLY_*'],
  'JavaScript and Node': [
    'NODE_*',
    'NPM_*',
    'YARN_*',
    'PNPM_*',
    'COREPACK_*',
    'BUN_*',
    'DENO_*',
    'TS_NODE_*',
  ],
  Electron: ['ELECTRON_*'],
  Python: ['PYTHON*', 'PIP_*', 'UV_*', 'VIRTUAL_ENV', 'CONDA_*'],
  'Perl, Ruby, PHP, Lua, R and Tcl': ['PERL*', 'RUBY*', 'GEM_*', 'BUNDLE*', 'PHP*', 'LUA_*', 'R_*', 'TCL*'],
  Java: ['JAVA_*', '_JAVA_OPTIONS', 'JDK_*', 'CLASSPATH', 'MAVEN_*', 'GRADLE_*'],
  'Go and Rust': ['GO*', 'CGO_*', 'RUST*', 'CARGO*'],
  building: ['MAKE*', 'MFLAGS', 'GNUMAKEFLAGS', 'GCC_*', 'COMPILER_PATH', 'CMAKE_*', 'CCACHE_*'],
  'what make runs by its own rules': [
    'CC',
    'CXX',
    'CPP',
    'FC',
    'AS',
    'AR',
    'LD',
    'LEX',
    'YACC',
    'RM',
    '*FLAGS',
  ],
  'options of other tools': ['TAR_OPTIONS', 'TAPE', 'RSH', 'RSYNC_*', 'SVN_*', 'HG*', 'CVS_*', 'MANOPT'],
  'modules of libraries': ['OPENSSL_*', 'GTK_*', 'GIO_*', 'GST_*', 'QT_*', 'QML*', 'SASL_*', 'KRB5_CONFIG'],
  'settings that name programs': ['DOCKER_*', 'KUBECONFIG', 'AWS_*', 'CURL_HOME', 'WGETRC', 'ANSIBLE_*'],
};

/** Those of a caller that are not as the user has them. Some programs read theirs in any case. */
export function changedCodeVariables(
  env: Readonly<Record<string, string>>,
  user: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return Object.keys(env)
    .filter((name) => env[name] !== user[name] && !setByHub.has(name) && decidesCode(name.toUpperCase()))
    .sort();
}

/** Every pane is given these, whatever a caller says of them. */
const setByHub: ReadonlySet<string> = new Set(['POLY_PANE', 'POLY_HOST', 'POLY_TOKEN', 'POLY_SOCKET']);
const patterns = Object.values(codeVariables).flat();
const decidesCode = (name: string): boolean => patterns.some((pattern) => fitsText(pattern, name));
