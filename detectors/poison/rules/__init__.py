"""The registry: every rule family, spelled out."""

from __future__ import annotations

from detectors.poison.rule import Rule
from detectors.poison.rules.concealment import RULES_CONCEALMENT
from detectors.poison.rules.credential import RULES_CREDENTIAL
from detectors.poison.rules.exfiltration import RULES_EXFILTRATION
from detectors.poison.rules.false_fact import RULES_FALSE_FACT
from detectors.poison.rules.guardrail import RULES_GUARDRAIL
from detectors.poison.rules.override import RULES_OVERRIDE
from detectors.poison.rules.propagation import RULES_PROPAGATION
from detectors.poison.rules.redirect import RULES_REDIRECT
from detectors.poison.rules.remote import RULES_REMOTE
from detectors.poison.rules.sabotage import RULES_SABOTAGE
from detectors.poison.rules.standing import RULES_STANDING

FAMILIES: dict[str, tuple[Rule, ...]] = {
    "override": RULES_OVERRIDE,
    "standing": RULES_STANDING,
    "redirect": RULES_REDIRECT,
    "exfiltration": RULES_EXFILTRATION,
    "credential": RULES_CREDENTIAL,
    "guardrail": RULES_GUARDRAIL,
    "remote": RULES_REMOTE,
    "concealment": RULES_CONCEALMENT,
    "propagation": RULES_PROPAGATION,
    "false_fact": RULES_FALSE_FACT,
    "sabotage": RULES_SABOTAGE,
}
RULES: tuple[Rule, ...] = tuple(rule for rules in FAMILIES.values() for rule in rules)
