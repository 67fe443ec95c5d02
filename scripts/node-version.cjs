// Plain old JavaScript, so that an old Node can parse it and say what is wrong with itself.
var wanted = '22.14';
var have = process.versions.node;

function number(version) {
  var parts = version.split('.');
  return Number(parts[0]) * 1000 + Number(parts[1]);
}

if (number(have) < number(wanted)) {
  console.error(`Polyphony needs Node ${wanted} or newer; this is ${have}. \`npm ci\` brings one.`);
  process.exit(1);
}
