module.exports = async function greet() {};
