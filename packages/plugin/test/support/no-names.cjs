// oxlint-disable-next-line import/no-commonjs -- A module of this kind exports what has no names.
module.exports = async function greet() {};
