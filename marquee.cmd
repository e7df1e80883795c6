@echo off
rem Marquee on the Bun that npm installed with it, from wherever it is called: beside this file or, hoisted, further up.
setlocal
set "MARQUEE_MACHINE=x64"
if /i "%PROCESSOR_ARCHITECTURE%"=="ARM64" set "MARQUEE_MACHINE=aarch64"
set "MARQUEE_MAIN=%~dp0src\main.ts"
if not exist "%MARQUEE_MAIN%" set "MARQUEE_MAIN=%~dp0lib\main.js"
set "MARQUEE_NODE="
set "MARQUEE_ELSE=install it, or unset MARQUEE_RUNTIME to run on Bun."
if "%MARQUEE_RUNTIME%"=="node" for /f "delims=v" %%v in ('node --version 2^>nul') do set "MARQUEE_NODE=%%v"
if "%MARQUEE_RUNTIME%"=="node" if not defined MARQUEE_NODE echo MARQUEE_RUNTIME=node needs Node 24 or later, but there is no node on the PATH: %MARQUEE_ELSE% 1>&2 & exit /b 1
for /f "delims=." %%v in ("%MARQUEE_NODE%") do if %%v LSS 24 echo MARQUEE_RUNTIME=node needs Node 24 or later, but the node on the PATH is %MARQUEE_NODE%: %MARQUEE_ELSE% 1>&2 & exit /b 1
rem Not in a block: an argument with a closing bracket would end it. A plain exit /b passes the status on.
if "%MARQUEE_RUNTIME%"=="node" node --disable-sigusr1 --enable-source-maps "%MARQUEE_MAIN%" %* & exit /b
set "MARQUEE_BUN="
for %%d in ("%~dp0node_modules" "%~dp0.." "%~dp0..\..") do (
  if not defined MARQUEE_BUN if exist "%%~d\@oven\bun-windows-%MARQUEE_MACHINE%\bin\bun.exe" set "MARQUEE_BUN=%%~d\@oven\bun-windows-%MARQUEE_MACHINE%\bin\bun.exe"
)
if not defined MARQUEE_BUN echo No Bun for this machine is installed with "%~dp0": run `npm ci` there, or install the package again 1>&2 & exit /b 1
"%MARQUEE_BUN%" "%MARQUEE_MAIN%" %*
