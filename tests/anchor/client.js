'use strict';
// The Anchor TypeScript client: the package that HAGGLE_ANCHOR_CLIENT names, by default the newest one.

const name = process.env.HAGGLE_ANCHOR_CLIENT ?? '@anchor-lang/core';

module.exports = { name, anchor: require(name) };
