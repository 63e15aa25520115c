"""The folder of a run: its manifest, its files, what survives a kill.

Which files a command may write stands in `valmatch.storage.contents`, what may be replaced, and
what never is, in `valmatch.storage.run_folder`; both hold for every command, through
`valmatch.storage.run_folder.RunFolder`.
"""
