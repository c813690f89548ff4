import Usher

UsherProgram.main()
