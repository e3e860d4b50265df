"""Alternations that several rules share, for text that is folded to lower case. All quantifiers are bounded."""

from __future__ import annotations

AGENT = r"(?:agents?|assistants?|ais?|llms?|language models?|models?|bots?|claude|codex|copilot|gemini|gpt|chatbots?)"
RULES = (
    r"(?:instructions?|instruction sets?|rules?|guidelines?|polic(?:y|ies)|directives?|prompts?|constraints?|"
    r"restrictions?|safeguards?|guardrails?|training|programming|limitations?|orders|messages?|conventions?)"
)
PRIOR = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|existing|former|initial|original|past|all|any|other|every|"
    r"system|project|safety|developer|your|these|those|the|of|important|given|user'?s?|current|security|content)"
)
CREDENTIAL = (
    r"(?:\.env\b|\benv(?:ironment)?[ _-](?:variables?|vars?|files?|secrets?)|whole environment|credentials?\b|"
    r"secrets?\b|tokens?\b|api[ _-]?keys?|_authtoken|passwords?\b|private[ _-]?keys?|ssh[ _-]?keys?|"
    r"id_(?:rsa|ed25519)|\.ssh\b|\.aws\b|\.npmrc|\.netrc|\.pypirc|\.git-?credentials|\.gnupg|kube/?config|\.kube\b|"
    r"keychain|keyring|\bcookies?\b|wallet|seed phrase|mnemonic|process\.env|os\.environ|printenv|\bpbpaste\b|"
    r"clipboard|screenshots?\b|shell history|signing key)"
)
PRIVATE = (
    r"(?:transcripts?|system prompt|conversations?|chat (?:history|log)|(?:last|recent) \d{0,4} ?(?:messages|"
    r"prompts)|"
    r"task prompt|source (?:code|tree)|\bsrc/|git diff|customer \w{0,12} ?(?:data|lists?|records?|rows|emails?|"
    r"exports?|"
    r"database)|order data|patient|medical|healthcare data|personal data|\bpii\b|database dump|"
    r"codebase|whole (?:repo|context)|(?:entire|full) (?:context|conversation|repo\w*|contents?|prompt)|"
    r"file(?:'s)? (?:path|contents?)|each file|every file|every (?:record|message|prompt|response|request))"
)
SEND = (
    r"\b(?:sends?|sending|posts?|posting|uploads?|uploading|forwards?|forwarding|e-?mails?|e-?mailing|transmits?|"
    r"transfers?|exfiltrates?|leaks?|ships?|mirrors?|bcc|copy|copies|pastes?|shares?|submits?|"
    r"attach|put|pass|relay|stream|dump|include|append|push|report|http_post|send_email|send_message|curl|wget|scp|"
    r"rsync|nc|netcat|nslookup|dig|fetch)\b"
)
HOST = (
    r"(?:(?:https?|hxxps?|ftp|smtp|s3|wss?|gs)://(?!localhost|127\.0\.0\.1[:/]|0\.0\.0\.0)|"
    r"[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,8}|\b\w{1,30}\[\.\]\w{2,12})"
)
SINK = (
    rf"(?:{HOST}|\bgists?\b|pastebin|\bpaste\.|webhook|\bexternal(?:ly)?\b|(?:central|remote|logging|backup|"
    rf"collector|"
    r"intranet|third[- ]party|outside) (?:\w{1,12} )?(?:servers?|hosts?|endpoints?|services?|collector)|"
    r"collector|(?:analytics|triage|diagnostics|telemetry|collaborator|audit|archive) (?:endpoint|server|webhook|"
    r"address|"
    r"service|channel)|commit (?:message|trailer)|issue tracker|support form|public (?:bucket|channel|repo))"
)
SHELL = r"(?:sudo (?:-\w{1,3} )?)?(?:(?:ba|z|da|k|fi)?sh\b|python3?\b|node\b|perl\b|ruby\b|iex\b|pwsh\b|powershell\b)"
USER = (
    r"(?:(?:the )?(?:end[- ])?users?|(?:the )?(?:human|person|operator|owner|maintainers?|reviewers?|customers?|"
    r"developers?|team|admins?|anyone|anybody|them|him|her))"
)
CONFIRM = (
    r"(?:confirm(?:ation|ing)?s?|permissions?|approvals?|consent|asking|prompts?|reviews?|being asked|"
    r"authori[sz]ation)"
)
CHECK = (
    r"(?:(?:security|safety|lint(?:er)?|type|quality|validation|signature|integrity|pre-?commit|poison|secret|"
    r"vulnerability|dependency|access|permission|branch|audit|compliance|code|virus|malware|tls|ssl|certificate|host "
    r"key|"
    r"review|approval|test|ci|rate|input|schema|strict schema) "
    r"(?:warnings?|checks?|checking|scans?|scanners?|scanning|verification|hooks?|reviews?|gates?|audits?|"
    r"validation|protections?|controls?|limits?|limiting|logs?|logging|steps?|policies|findings?|alerts?|tests?)|"
    r"antivirus|anti-virus|defender|firewall|selinux|apparmor|sandbox(?:ing)?|auditd|gatekeeper|"
    r"guardrails?|branch protection|codeowners|gitleaks|dependabot|(?:endpoint|branch) protection|audit (?:trail|"
    r"log))"
)
OFF = (
    r"(?:disabl(?:e|es|ed|ing)|turn(?:s|ed|ing)? (?:it |them )?off|switch(?:ed|ing)? (?:it |them )?off|skip(?:s|ped|"
    r"ping)?|"
    r"bypass(?:es|ed|ing)?|by-pass|remov(?:e|es|ed|ing)|delet(?:e|es|ing)|suppress(?:es|ed|ing)?|silenc(?:e|es|ing)|"
    r"ignor(?:e|es|ed|ing)|drop|unset|stop|kill|neuter|circumvent|override|dismiss|mute|relax|loosen|weaken|lift|"
    r"deactivate|waive[sd]?|comment out|leave (?:it |them )?off)"
)
ALWAYS = (
    r"(?:always|every time|each time|whenever|any time|every (?:session|task|request|project|time|repo\w*)|from now "
    r"on|"
    r"all (?:future|later|other) \w{2,12}|each (?:session|task|repo\w*|project|clone|request)|by default|at the "
    r"start of)"
)
TRUSTED = (
    r"(?:verified|validated|approved|confirmed|accepted|certified|agreed|signed[- ]off|cleared|blessed|endorsed|"
    r"recommended|sanctioned|measured|proven|works 100|never failed|(?<=\d\s)times|(?:cto|ciso|legal|security(?: "
    r"team)?|"
    r"compliance|management|platform[- ]admin|the vendor|finance) (?:says?|said|confirmed|approved|agreed|signed|has|"
    r"have))"
)
ENTITY = r"(?:[`\"'@]?[\w@][\w@./:~-]{1,60}[`\"']?)"
SINK_WORDS = (
    "=:// =@ =[.] gist paste webhook extern central remote logg backup collect intranet third outside analytic triage "
    "diagnostic telemetry collaborat audit archiv commit issue support public"
)
